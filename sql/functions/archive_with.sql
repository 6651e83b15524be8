create or replace function posthaste_private.archive_with(address text) returns setof uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select a.id from posthaste.email_archive a where posthaste_private.holds_address(a::text, archive_with.address)
$$;
comment on function posthaste_private.archive_with(text) is 'The archived mail that holds an address (in lower case) anywhere in its row. Reads the whole table.';
revoke all on function posthaste_private.archive_with(text) from public;
