create or replace function posthaste_private.default_transport() returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select posthaste_private.setting('default_transport') #>> '{}'
$$;
comment on function posthaste_private.default_transport() is 'The transport of mail that names none, as the workers'' configuration says; null before the first worker.';
revoke all on function posthaste_private.default_transport() from public;
--! roles
grant execute on function posthaste_private.default_transport() to posthaste_operator, posthaste_viewer;
--! end
