create or replace function posthaste_private.has_own_types(relation oid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- Types below 16384 came with PostgreSQL.
  select exists (
    select from pg_attribute a where a.attrelid = has_own_types.relation and a.attnum > 0 and not a.attisdropped and a.atttypid >= 16384)
$$;
comment on function posthaste_private.has_own_types(oid) is 'Whether a table has a column of a type that did not come with PostgreSQL: an enum, a domain, a composite or one of an extension.';
revoke all on function posthaste_private.has_own_types(oid) from public;
