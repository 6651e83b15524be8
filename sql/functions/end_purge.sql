create or replace function posthaste_private.end_purge(complete boolean) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  update posthaste_private.purges set ended_at = now(), complete = end_purge.complete
$$;
comment on function posthaste_private.end_purge(boolean) is 'Tells that a purge has ended: it came through, or its time was over.';
revoke all on function posthaste_private.end_purge(boolean) from public;
