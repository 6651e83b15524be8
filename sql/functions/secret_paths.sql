create or replace function posthaste_private.secret_paths(template text) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.paths from posthaste_private.template_secrets s where s.template = secret_paths.template
$$;
comment on function posthaste_private.secret_paths(text) is 'Paths of a template''s secret parameters, empty when it has none; null when no worker has ever known the template.';
revoke all on function posthaste_private.secret_paths(text) from public;
