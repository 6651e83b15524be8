create or replace function posthaste_private.beat(worker text, pool_id text, listening boolean) returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with beaten as (
    update posthaste_private.workers w set heartbeat_at = now(), pool_id = beat.pool_id, listening = beat.listening
    where w.id = beat.worker
    returning 1
  )
  select exists (select from beaten)
$$;
comment on function posthaste_private.beat(text, text, boolean) is 'A worker''s sign of life; false when it is not registered (any more).';
revoke all on function posthaste_private.beat(text, text, boolean) from public;
