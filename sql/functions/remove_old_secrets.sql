create or replace function posthaste_private.remove_old_secrets(keep interval, batch int) returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_removed int;
begin
  with old as (
    select m.id, s.paths from posthaste_private.template_secrets s
    cross join lateral (
      select f.id from posthaste.email_messages f
      where f.template = s.template and f.status = 'FAILED' and f.secrets_removed_at is null and f.finished_at <= now() - keep
      limit batch
    ) m
    where s.paths <> '{}'
    limit batch
  ), held as (
    select m.id from posthaste.email_messages m where m.id in (select o.id from old o) and m.status = 'FAILED' order by m.id
    -- Maintenance has locked other mail by now, so it waits for nobody: what is locked comes next time.
    for update skip locked
  )
  update posthaste.email_messages m set
    parameters = posthaste_private.without_secrets(m.parameters, o.paths),
    secrets_removed_at = now()
  from held h join old o on o.id = h.id
  where m.id = h.id;
  get diagnostics v_removed = row_count;
  return v_removed;
end $$;
comment on function posthaste_private.remove_old_secrets(interval, int) is 'Removes the secret parameters of mail that failed longer ago than `keep`, at most `batch`; how many.';
revoke all on function posthaste_private.remove_old_secrets(interval, int) from public;
