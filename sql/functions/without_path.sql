create or replace function posthaste_private.without_path(value jsonb, steps text[]) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(value)
    when 'array' then (
      select coalesce(jsonb_agg(posthaste_private.without_path(e.element, steps) order by e.place), '[]')
      from jsonb_array_elements(value) with ordinality e(element, place))
    when 'object' then case
      when not value ? steps[1] then value
      when cardinality(steps) = 1 then value - steps[1]
      else jsonb_set(value, steps[1:1], posthaste_private.without_path(value -> steps[1], steps[2:])) end
    else value end;
end $$;
comment on function posthaste_private.without_path(jsonb, text[]) is 'JSON without what stands at a path; a step through an array means each of its elements.';
revoke all on function posthaste_private.without_path(jsonb, text[]) from public;
