create or replace function posthaste_private.count_removed(what text, number int) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  update posthaste_private.purges p set active_at = now(),
    removed = p.removed || jsonb_build_object(count_removed.what, coalesce((p.removed ->> count_removed.what)::bigint, 0) + count_removed.number)
  where count_removed.number > 0
$$;
comment on function posthaste_private.count_removed(text, int) is 'Adds to what the purge that is under way has removed. The last thing that a step does, because it locks the one row.';
revoke all on function posthaste_private.count_removed(text, int) from public;
