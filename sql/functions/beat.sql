create or replace function posthaste_private.beat(worker text, pool_id text, listening boolean) returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with beaten as (
    update posthaste_private.workers w set heartbeat_at = now(), pool_id = beat.pool_id, listening = beat.listening
    where w.id = beat.worker
    returning 1
  ), echoed as (
    -- On Graphile Worker's channel, which this process listens to; a count of 0 wakes nobody.
    select pg_notify('jobs:insert', json_build_object('count', 0, 'posthaste', beat.worker)::text)
  )
  select exists (select from beaten) from echoed
$$;
comment on function posthaste_private.beat(text, text, boolean) is 'A worker''s sign of life, and a notification to itself that proves that it listens; false when it is not registered (any more).';
revoke all on function posthaste_private.beat(text, text, boolean) from public;
