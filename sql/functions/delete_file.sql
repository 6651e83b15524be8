create or replace function posthaste_private.delete_file(key text) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  delete from posthaste.files f
  where f.id = case when delete_file.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then delete_file.key::uuid end
$$;
comment on function posthaste_private.delete_file(text) is 'Deletes a file of posthaste.files whose last mail is gone. None is there: nothing.';
revoke all on function posthaste_private.delete_file(text) from public;
