create or replace function posthaste_private.find_file(id uuid) returns table (size int, checksum text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select f.size, f.checksum from posthaste.files f where f.id = find_file.id
$$;
comment on function posthaste_private.find_file(uuid) is 'Size and checksum of a file; no row when there is none.';
revoke all on function posthaste_private.find_file(uuid) from public;
