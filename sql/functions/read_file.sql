create or replace function posthaste_private.read_file(id uuid, start int, length int) returns bytea
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select substring(f.bytes from read_file.start + 1 for read_file.length) from posthaste.files f where f.id = read_file.id
$$;
comment on function posthaste_private.read_file(uuid, int, int) is 'A piece of a file: `length` bytes from `start`, which counts from 0; null when there is no such file.';
revoke all on function posthaste_private.read_file(uuid, int, int) from public;
