create or replace function posthaste_private.check_filter(filter jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[] := array['id', 'status', 'template', 'error_code', 'reference', 'owner', 'recipient', 'transport', 'since', 'until', 'possible_duplicate'];
  v_key text;
begin
  if jsonb_typeof(filter) is distinct from 'object' then
    perform posthaste_private.reject('PH030', 'filter', 'filter must be a JSON object', 'Write {"template": "order-confirmed", "since": "2026-01-31"}; {} means everything.');
  end if;
  for v_key in select jsonb_object_keys(filter) loop
    if v_key <> all (v_known) then
      perform posthaste_private.reject('PH030', 'filter', format('filter has no key %L', left(v_key, 60)), 'Known keys: ' || array_to_string(v_known, ', ') || '.');
    end if;
    if jsonb_typeof(filter -> v_key) not in ('string', 'boolean') and not (v_key in ('id', 'status', 'error_code') and jsonb_typeof(filter -> v_key) = 'array') then
      perform posthaste_private.reject('PH030', 'filter', format('filter key %s has a %s', v_key, jsonb_typeof(filter -> v_key)), 'Give a string; id, status and error_code also take an array of strings.');
    end if;
  end loop;
end $$;
comment on function posthaste_private.check_filter(jsonb) is 'Raises PH030 for a filter with an unknown key or a value of the wrong type: a typo must not mean everything.';
revoke all on function posthaste_private.check_filter(jsonb) from public;
