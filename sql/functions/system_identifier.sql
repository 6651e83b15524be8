create or replace function posthaste_private.system_identifier() returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select c.system_identifier::text from pg_control_system() c);
exception when insufficient_privilege then
  return null;  -- some hosted servers keep it to themselves
end $$;
comment on function posthaste_private.system_identifier() is 'Identifier of the server that this database runs on: it stays with a standby and differs for a restored dump. Null where the server does not tell.';
revoke all on function posthaste_private.system_identifier() from public;
