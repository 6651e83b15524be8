create or replace function posthaste_private.check_filter(filter jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[] := array['id', 'status', 'template', 'error_code', 'reference', 'owner', 'recipient', 'transport', 'since', 'until', 'possible_duplicate'];
  v_key text;
  v_value jsonb;
  v_wrong boolean;
begin
  if jsonb_typeof(filter) is distinct from 'object' then
    perform posthaste_private.reject('PH030', 'filter', 'filter must be a JSON object', 'Write {"template": "order-confirmed", "since": "2026-01-31"}; {} means everything.');
  end if;
  for v_key in select jsonb_object_keys(filter) loop
    if v_key <> all (v_known) then
      perform posthaste_private.reject('PH030', 'filter', format('filter has no key %L', left(v_key, 60)), 'Known keys: ' || array_to_string(v_known, ', ') || '.');
    end if;
    v_value := filter -> v_key;
    v_wrong := case
      when v_key = 'possible_duplicate' then v_value not in ('true', 'false', '"true"', '"false"')
      when v_key in ('id', 'status', 'error_code') and jsonb_typeof(v_value) = 'array' then jsonb_path_exists(v_value, '$[*] ? (@.type() != "string")')
      else jsonb_typeof(v_value) <> 'string' end;
    if v_wrong then
      perform posthaste_private.reject('PH030', 'filter', format('filter key %s has a value of the wrong type', v_key),
        'Give a string; id, status and error_code also take an array of strings, possible_duplicate takes true or false.');
    end if;
    begin
      perform case v_key
        when 'id' then array_to_string(posthaste_private.texts(v_value)::uuid[], ',')
        when 'since' then (v_value #>> '{}')::timestamptz::text
        when 'until' then (v_value #>> '{}')::timestamptz::text end;
    exception when data_exception then
      perform posthaste_private.reject('PH030', 'filter', format('filter key %s cannot be read', v_key), 'Give ids as UUIDs, and times like 2026-01-31 or 2026-01-31T12:00:00Z.');
    end;
  end loop;
end $$;
comment on function posthaste_private.check_filter(jsonb) is 'Raises PH030 for a filter with an unknown key or a value that cannot be read: a typo must not mean everything.';
revoke all on function posthaste_private.check_filter(jsonb) from public;
--! roles
grant execute on function posthaste_private.check_filter(jsonb) to posthaste_operator, posthaste_viewer;
--! end
