create or replace function posthaste_private.is_alive(worker text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- A lock by a bigint key shows as its two halves.
  select exists (
    select from pg_locks l
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and (l.classid::bigint << 32 | l.objid::bigint) = posthaste_private.worker_lock(is_alive.worker)
  )
$$;
comment on function posthaste_private.is_alive(text) is 'Whether a worker process holds its advisory lock. Looking takes no lock.';
revoke all on function posthaste_private.is_alive(text) from public;
