create or replace function posthaste_private.without_secrets(parameters jsonb, paths text[]) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left jsonb := parameters;
  v_path text;
begin
  -- Of a template that no worker has ever known, any parameter may be a secret.
  if paths is null then
    return '{}';
  end if;
  foreach v_path in array paths loop
    v_left := posthaste_private.without_path(v_left, string_to_array(v_path, '.'));
  end loop;
  return v_left;
end $$;
comment on function posthaste_private.without_secrets(jsonb, text[]) is 'Parameters without those at these paths; without any when the paths are not known (null).';
revoke all on function posthaste_private.without_secrets(jsonb, text[]) from public;
