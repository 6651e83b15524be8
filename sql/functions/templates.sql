create or replace function posthaste.templates()
returns table (name text, versions text[], required text[], secrets text[], workers int)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.name, array_agg(distinct t.version order by t.version),
    array(select distinct u.name from posthaste_private.templates o, unnest(o.required) u(name) where o.name = t.name order by 1),
    array(select distinct u.path from posthaste_private.templates o, unnest(o.secrets) u(path) where o.name = t.name order by 1),
    count(*)::int
  from posthaste_private.templates t where posthaste_private.is_alive(t.worker_id)
  group by t.name order by t.name
$$;
comment on function posthaste.templates() is 'The templates that live workers know; more than one version while a deploy is rolling.';
revoke all on function posthaste.templates() from public;
--! roles
grant execute on function posthaste.templates() to posthaste_operator;
--! end
