create or replace function posthaste_private.extend_leases(ids uuid[], tokens uuid[], lease interval, hand_over boolean)
returns setof uuid
language sql volatile
set search_path = pg_catalog, pg_temp
-- A plan made while the table is small would read all of it, and is kept while it grows.
set enable_seqscan = off
-- A table without a fitting index is read all the same, at a price that would have the plan compiled: 100 ms and more.
set jit = off
set plan_cache_mode = force_generic_plan
as $$
  with held as (
    select m.id from posthaste.email_messages m
    join unnest(extend_leases.ids, extend_leases.tokens) l(id, token) on l.id = m.id
    where m.status = 'SENDING' and m.lease_token = l.token
    order by m.id
    for update of m
  )
  update posthaste.email_messages m set
    locked_until = greatest(m.locked_until, now() + extend_leases.lease),
    handed_over_at = case when extend_leases.hand_over then coalesce(m.handed_over_at, now()) else m.handed_over_at end
  from held where m.id = held.id
  returning m.id
$$;
comment on function posthaste_private.extend_leases(uuid[], uuid[], interval, boolean) is 'Renews the leases that these tokens still hold and returns their mails; with hand_over it also marks them as being handed to the server, after which alone the final dot may be written.';
revoke all on function posthaste_private.extend_leases(uuid[], uuid[], interval, boolean) from public;
