create or replace function posthaste_private.add_jobs(ids uuid[]) returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
-- A plan made while the table is small would read all of it, and is kept while it grows.
set enable_seqscan = off
-- A table without a fitting index is read all the same, at a price that would have the plan compiled: 100 ms and more.
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_specs graphile_worker.job_spec[];
  v_default text := posthaste_private.setting('default_transport') #>> '{}';
  v_blocked text[] := array(select t.name from posthaste_private.transports t where t.state = 'open' or t.paused_at is not null);
begin
  if add_jobs.ids = '{}' then
    return 0;
  end if;
  -- Mail that is due later gets its job from maintenance in time: a jobs table full of future jobs makes each fetch slow.
  -- A transport that is stopped gets none: skipping such jobs would cost each fetch a walk over all of them.
  select array_agg(row('posthaste/send_email', json_build_object('id', m.id), null, m.next_attempt_at, null,
    'posthaste:' || m.id, m.priority, null)::graphile_worker.job_spec order by m.next_attempt_at, m.id)
  into v_specs
  from posthaste.email_messages m
  where m.id = any (add_jobs.ids)
    and m.status = 'PENDING'
    and m.next_attempt_at <= now() + interval '60 seconds'
    and coalesce(m.transport, v_default, '') <> all (v_blocked);
  if v_specs is null then
    return 0;  -- add_jobs notifies even for an empty list
  end if;
  perform graphile_worker.add_jobs(v_specs);
  return cardinality(v_specs);
end $$;
comment on function posthaste_private.add_jobs(uuid[]) is 'Adds a job for each of these mails that waits, is due within a minute and whose transport is not stopped; returns how many.';
revoke all on function posthaste_private.add_jobs(uuid[]) from public;
