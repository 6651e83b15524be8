create or replace function posthaste_private.check_template(template text, parameters jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text[];
  v_wrong text[];
begin
  -- While a deploy rolls, two versions are known: what one of them accepts is accepted.
  select t.missing, t.wrong into v_missing, v_wrong from (
    select array(select r.name from unnest(known.required) r(name) where not parameters ? r.name order by r.name) as missing,
      array(
        select format('%s (%s, not %s)', y.name, (select string_agg(a.type, ' or ') from jsonb_array_elements_text(y.types) a(type)), jsonb_typeof(parameters -> y.name))
        from jsonb_each(known.types) y(name, types)
        where parameters ? y.name and not y.types ? jsonb_typeof(parameters -> y.name)
        order by y.name) as wrong
    from posthaste_private.templates known where known.name = check_template.template
  ) t order by cardinality(t.missing) + cardinality(t.wrong) limit 1;
  if not found then
    perform posthaste_private.reject('PH011', 'template', format('no worker has published a template %L', template),
      'Compare the name with the files in emails/, and start a worker that has it; without the setting strict the mail would be kept and fail later.');
  end if;
  if v_missing <> '{}' then
    perform posthaste_private.reject('PH012', 'parameters', format('template %L needs the parameters %s', template, array_to_string(v_missing, ', ')),
      'Add them to the call.');
  end if;
  if v_wrong <> '{}' then
    perform posthaste_private.reject('PH013', 'parameters', format('template %L takes other JSON types for %s', template, array_to_string(v_wrong, ', ')),
      'Build the parameters with jsonb_build_object(), which keeps numbers and booleans as they are.');
  end if;
end $$;
comment on function posthaste_private.check_template(text, jsonb) is 'Raises PH011, PH012 or PH013 unless a published template of that name gets the parameters that it needs, in the JSON types that it takes. Never shows a value. Used when strict.';
revoke all on function posthaste_private.check_template(text, jsonb) from public;
