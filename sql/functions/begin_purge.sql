create or replace function posthaste_private.begin_purge() returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into posthaste_private.purges (began_at, active_at) values (now(), now())
  on conflict (only_row) do update set began_at = now(), active_at = now(), ended_at = null, complete = false, removed = '{}'
$$;
comment on function posthaste_private.begin_purge() is 'Begins to tell how far a purge has come.';
revoke all on function posthaste_private.begin_purge() from public;
