create or replace function posthaste_private.filled(pattern text, record jsonb, relation oid) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result text := '';
  v_rest text := pattern;
  v_name text;
begin
  -- From left to right, so that a brace inside a value is never read as a pattern.
  loop
    v_name := substring(v_rest from '\{([^{}]+)\}');
    exit when v_name is null;
    v_result := v_result || split_part(v_rest, '{' || v_name || '}', 1) || (posthaste_private.columns_of(array[v_name], record, relation) ->> btrim(v_name));
    v_rest := substr(v_rest, position('{' || v_name || '}' in v_rest) + length(v_name) + 2);
  end loop;
  return v_result || v_rest;
end $$;
comment on function posthaste_private.filled(text, jsonb, oid) is 'A pattern with each {column} replaced by the row''s value; null when one is null, because rows without the value would share the text; raises PH031 for a column that the table does not have.';
revoke all on function posthaste_private.filled(text, jsonb, oid) from public;
