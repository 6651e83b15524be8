create or replace function posthaste_private.purge_progress() returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'running', p.began_at is not null and p.ended_at is null,
    'complete', p.complete,
    'began_seconds', extract(epoch from now() - p.began_at),
    'active_seconds', extract(epoch from now() - p.active_at),
    'ended_seconds', extract(epoch from now() - p.ended_at),
    'removed', p.removed,
    'orphan_files', (select count(*) from posthaste_private.orphan_files))
  from posthaste_private.purges p
$$;
comment on function posthaste_private.purge_progress() is 'How far the latest purge has come, with ages in seconds (null: it never did), and how many files wait to be deleted.';
revoke all on function posthaste_private.purge_progress() from public;
