create or replace function posthaste_private.columns_of(names text[], record jsonb, relation oid) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_result jsonb := '{}';
begin
  foreach v_name in array names loop
    v_name := btrim(v_name);
    if not record ? v_name then
      perform posthaste_private.reject('PH031', 'trigger', format('table %s has no column %L', relation::regclass, v_name), 'Correct the argument of the trigger.');
    end if;
    v_result := v_result || jsonb_build_object(v_name, record -> v_name);
  end loop;
  return v_result;
end $$;
comment on function posthaste_private.columns_of(text[], jsonb, oid) is 'The named columns of a row; raises PH031 for one that the table does not have.';
revoke all on function posthaste_private.columns_of(text[], jsonb, oid) from public;
