create or replace function posthaste_private.take_probes(transports text[], hold interval)
returns table (name text, email_id uuid)
language sql volatile
set search_path = pg_catalog, pg_temp
-- Before the table is analysed, a plan would read and sort all that is waiting: 1.3 s with 300,000 instead of 1 ms.
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
  with taken as (
    update posthaste_private.transports t set next_probe_at = now() + take_probes.hold
    where t.name = any (take_probes.transports) and t.state = 'open' and t.paused_at is null
      -- Further ahead than any probe is put off says that the clock was set back.
      -- The clock, not the time when this began: who waited here for another caller would take its hold for one.
      and (t.next_probe_at <= now() or t.next_probe_at > clock_timestamp() + greatest(t.probe_delay * 2, take_probes.hold))
    returning t.name
  )
  select t.name, (
    select f.id from (
      select m.id, m.next_attempt_at, m.attempt_count + m.deferral_count as tries from posthaste.email_messages m
      where m.status = 'PENDING' and m.next_attempt_at <= now() and (m.expires_at is null or m.expires_at > now())
        and coalesce(m.transport, posthaste_private.setting('default_transport') #>> '{}') = t.name
      order by m.next_attempt_at, m.id limit 20
    ) f
    -- A mail that itself breaks the server must not be the probe while another waits.
    order by f.tries, f.next_attempt_at, f.id limit 1
  )
  from taken t
$$;
comment on function posthaste_private.take_probes(text[], interval) is 'Transports of this worker whose open breaker is to be probed now, each given to one caller, with a mail if one is due: of those that go first the one with the fewest tries.';
revoke all on function posthaste_private.take_probes(text[], interval) from public;
