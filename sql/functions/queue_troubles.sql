create or replace function posthaste_private.queue_troubles()
returns table (without_transport jsonb, worker_transports text[], failed_recently jsonb, abandoned bigint, abandoned_until timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  worker_transports := array(
    select distinct t.name from posthaste_private.workers w, unnest(w.transports) t(name) where posthaste_private.is_alive(w.id) order by 1);
  select coalesce(jsonb_agg(jsonb_build_object('transport', p.transport, 'emails', p.emails) order by p.emails desc, p.transport), '[]') into without_transport from (
    select m.transport, count(*) as emails from posthaste.email_messages m
    where m.status = 'PENDING' and m.transport is not null and m.send_at <= now() and m.transport <> all (worker_transports)
    group by m.transport
  ) p where worker_transports <> '{}';
  -- Bounded, because an import gone wrong may have made very many.
  select coalesce(jsonb_agg(jsonb_build_object('code', f.code, 'emails', f.emails) order by f.emails desc, f.code), '[]') into failed_recently from (
    select coalesce(r.error_code, '') as code, count(*) as emails from (
      select m.error_code from posthaste.email_messages m
      where m.status = 'FAILED' and m.finished_at > now() - interval '1 hour'
      order by m.finished_at desc limit 100000
    ) r group by 1
  ) f;
  -- What was not handed over goes back at the next maintenance; only what may have been sent waits for its lease.
  select count(*), max(m.locked_until) into abandoned, abandoned_until from posthaste.email_messages m
  where m.status = 'SENDING' and m.handed_over_at is not null and m.locked_until > now() and not posthaste_private.is_alive(m.locked_by);
  return next;
end $$;
comment on function posthaste_private.queue_troubles() is 'What `posthaste status` tells besides posthaste.queue_stats(): waiting mail whose transport no live worker has, and the transports that they have; failures of the last hour by cause (the newest 100,000); mail that a worker handed over before it was lost, and when the last of its leases ends.';
revoke all on function posthaste_private.queue_troubles() from public;
--! roles
grant execute on function posthaste_private.queue_troubles() to posthaste_operator;
--! end
