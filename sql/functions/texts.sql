create or replace function posthaste_private.texts(value jsonb) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case jsonb_typeof(value)
    when 'array' then array(select coalesce(e.value #>> '{}', '') from jsonb_array_elements(value) with ordinality e(value, position) order by e.position)
    when 'null' then '{}'
    else case when value is null then '{}' else array[value #>> '{}'] end
  end
$$;
comment on function posthaste_private.texts(jsonb) is 'A column as a list of texts: of one value, of an array, or none for null.';
revoke all on function posthaste_private.texts(jsonb) from public;
--! roles
grant execute on function posthaste_private.texts(jsonb) to posthaste_operator, posthaste_viewer;
--! end
