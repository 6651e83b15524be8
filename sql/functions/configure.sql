create or replace function posthaste.configure(name text, value jsonb) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  case name
    when 'strict' then
      if jsonb_typeof(value) is distinct from 'boolean' then
        perform posthaste_private.reject('PH030', 'value', 'strict must be true or false', 'Write posthaste.configure(''strict'', ''true'').');
      end if;
    when 'environment' then
      if jsonb_typeof(value) is distinct from 'string' or (value #>> '{}') !~ '^[A-Za-z0-9_-]{1,63}$' then
        perform posthaste_private.reject('PH030', 'value', 'environment must be a word of letters, digits, - and _', 'Write posthaste.configure(''environment'', ''"staging"'').');
      end if;
      -- Whoever says what it is has seen where it is: the server of the next worker is the right one.
      delete from posthaste_private.settings s where s.name = 'system_identifier';
    else
      perform posthaste_private.reject('PH030', 'name', format('there is no setting %L', left(name, 60)), 'Known settings: strict, environment.');
  end case;
  insert into posthaste_private.settings as s (name, value) values (configure.name, configure.value)
  on conflict on constraint settings_pkey do update set value = excluded.value;
end $$;
comment on function posthaste.configure(text, jsonb) is 'Sets a setting of this database: strict (boolean; bad recipients, unknown templates and missing parameters raise) or environment (string; workers of another environment send nothing). Raises PH030 for anything else. For the owner only.';
revoke all on function posthaste.configure(text, jsonb) from public;
