create or replace function posthaste_private.identity() returns table (environment text, installation text, moved boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_system text := posthaste_private.system_identifier();
begin
  insert into posthaste_private.settings as s (name, value)
  select 'system_identifier', to_jsonb(v_system) where v_system is not null
  on conflict do nothing;
  return query select
    posthaste_private.setting('environment') #>> '{}',
    posthaste_private.setting('installation') #>> '{}',
    coalesce(posthaste_private.setting('system_identifier') #>> '{}' <> v_system, false);
end $$;
comment on function posthaste_private.identity() is 'What this database is: its environment, the id that it was given when it was made, and whether it has come to another server since a worker first saw it. posthaste.configure(''environment'', …) says that it belongs there.';
revoke all on function posthaste_private.identity() from public;
