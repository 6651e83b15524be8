create or replace function posthaste_private.publish_templates(worker text, templates jsonb) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from posthaste_private.templates t where t.worker_id = publish_templates.worker;
  insert into posthaste_private.templates (worker_id, name, version, required, types, secrets, on_unknown_outcome)
  select publish_templates.worker, t.name, t.version, coalesce(t.required, '{}'), coalesce(t.types, '{}'), coalesce(t.secrets, '{}'), t.on_unknown_outcome
  from jsonb_to_recordset(publish_templates.templates) as t(name text, version text, required text[], types jsonb, secrets text[], on_unknown_outcome text);

  insert into posthaste_private.template_secrets as s (template, paths)
  select t.name, coalesce(t.secrets, '{}')
  from jsonb_to_recordset(publish_templates.templates) as t(name text, secrets text[])
  order by t.name
  on conflict (template) do update set paths = array(select unnest(s.paths) union select unnest(excluded.paths) order by 1)
  where not s.paths @> excluded.paths;
end $$;
comment on function posthaste_private.publish_templates(text, jsonb) is 'Tells what templates a worker knows, in place of what it told before; what was secret once stays so.';
revoke all on function posthaste_private.publish_templates(text, jsonb) from public;
