create or replace function posthaste_private.check_template(template text, parameters jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text[];
begin
  -- While a deploy rolls, two versions are known: what one of them accepts is accepted.
  select t.missing into v_missing from (
    select array(select r.name from unnest(known.required) r(name) where not parameters ? r.name order by r.name) as missing
    from posthaste_private.templates known where known.name = check_template.template
  ) t order by cardinality(t.missing) limit 1;
  if not found then
    perform posthaste_private.reject('PH011', 'template', format('no worker has published a template %L', template),
      'Compare the name with the files in emails/, and start a worker that has it; without the setting strict the mail would be kept and fail later.');
  end if;
  if v_missing <> '{}' then
    perform posthaste_private.reject('PH012', 'parameters', format('template %L needs the parameters %s', template, array_to_string(v_missing, ', ')),
      'Add them to the call.');
  end if;
end $$;
comment on function posthaste_private.check_template(text, jsonb) is 'Raises PH011 or PH012 unless a published template of that name gets the parameters that it needs. Used when strict.';
revoke all on function posthaste_private.check_template(text, jsonb) from public;
