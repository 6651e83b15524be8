create or replace function posthaste.queue_stats()
returns table (
  pending bigint, sending bigint, sent bigint, failed bigint, cancelled bigint, ended_are_estimates boolean,
  due bigint, oldest_due_at timestamptz, expired_leases bigint, live_workers bigint, listening_workers bigint,
  transports jsonb, environment text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_rows bigint;
begin
  select count(*), count(*) filter (where m.next_attempt_at <= now()), min(m.next_attempt_at) filter (where m.next_attempt_at <= now())
  into pending, due, oldest_due_at from posthaste.email_messages m where m.status = 'PENDING';
  select count(*), count(*) filter (where m.locked_until < now()) into sending, expired_leases from posthaste.email_messages m where m.status = 'SENDING';
  select count(*) into failed from posthaste.email_messages m where m.status = 'FAILED';
  select c.reltuples::bigint into v_rows from pg_class c where c.oid = 'posthaste.email_messages'::regclass;
  ended_are_estimates := v_rows > 200000;
  if ended_are_estimates then
    -- Counting years of history would cost seconds; the planner's statistics cost nothing.
    select coalesce((v_rows * f.share)::bigint, 0) into cancelled
    from (select (s.most_common_freqs)[array_position(s.most_common_vals::text::text[], 'CANCELLED')] as share
      from pg_stats s where s.schemaname = 'posthaste' and s.tablename = 'email_messages' and s.attname = 'status') f;
    cancelled := coalesce(cancelled, 0);
    sent := greatest(0, v_rows - pending - sending - failed - cancelled);
  else
    select count(*) filter (where m.status = 'SENT'), count(*) filter (where m.status = 'CANCELLED') into sent, cancelled from posthaste.email_messages m;
  end if;
  -- A worker hears from itself a few seconds after its start: until then nothing speaks against its listener.
  select count(*), count(*) filter (where w.listening or w.started_at > now() - interval '10 seconds') into live_workers, listening_workers
  from posthaste_private.workers w where posthaste_private.is_alive(w.id);
  select coalesce(jsonb_agg(jsonb_build_object(
    'name', t.name,
    'default', t.name = posthaste_private.setting('default_transport') #>> '{}',
    'state', case when t.paused_at is not null then 'paused' else t.state end,
    'since', coalesce(t.paused_at, t.since),
    'failures', t.failures,
    'error_code', t.error_code,
    'reason', coalesce(t.pause_reason, t.reason),
    'paused_by', t.paused_by,
    'next_probe_at', t.next_probe_at
  ) order by t.name), '[]') into transports from posthaste_private.transports t;
  environment := posthaste_private.setting('environment') #>> '{}';
  return next;
end $$;
comment on function posthaste.queue_stats() is 'How the queue is, in one row: counts by status (from 200,000 rows on, sent and cancelled are estimates), the oldest mail that is due, leases that ran out, live workers and those of them that notifications reach (in their first 10 seconds it is taken for granted), and each transport with the reason when it is stopped.';
revoke all on function posthaste.queue_stats() from public;
--! roles
grant execute on function posthaste.queue_stats() to posthaste_operator;
--! end
