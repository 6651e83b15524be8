create or replace function posthaste_private.gone_workers(workers text[]) returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select w.id from unnest(workers) w(id) where not posthaste_private.is_alive(w.id)
$$;
comment on function posthaste_private.gone_workers(text[]) is 'Those of the named workers, as in email_messages.locked_by, whose process or connection is gone.';
revoke all on function posthaste_private.gone_workers(text[]) from public;
--! roles
grant execute on function posthaste_private.gone_workers(text[]) to posthaste_operator;
--! end
