create or replace function posthaste_private.register_worker(worker text, host text, version text, default_transport text, max_attempts int, transports text[], templates jsonb)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform pg_advisory_lock(posthaste_private.worker_lock(worker));
  insert into posthaste_private.workers as w (id, host, version, transports)
  values (register_worker.worker, register_worker.host, register_worker.version, register_worker.transports)
  on conflict (id) do update set heartbeat_at = now();

  delete from posthaste_private.templates t where t.worker_id = register_worker.worker;
  insert into posthaste_private.templates (worker_id, name, version, required, secrets, on_unknown_outcome)
  select register_worker.worker, t.name, t.version, coalesce(t.required, '{}'), coalesce(t.secrets, '{}'), t.on_unknown_outcome
  from jsonb_to_recordset(register_worker.templates) as t(name text, version text, required text[], secrets text[], on_unknown_outcome text);

  insert into posthaste_private.transports (name) select unnest(register_worker.transports) on conflict (name) do nothing;
  insert into posthaste_private.settings as s (name, value)
  values ('default_transport', to_jsonb(register_worker.default_transport)), ('max_attempts', to_jsonb(register_worker.max_attempts))
  on conflict (name) do update set value = excluded.value where s.value is distinct from excluded.value;
end $$;
comment on function posthaste_private.register_worker(text, text, text, text, int, text[], jsonb) is 'Announces a worker on the connection that it keeps open: takes its advisory lock for the session and publishes its templates and transports.';
revoke all on function posthaste_private.register_worker(text, text, text, text, int, text[], jsonb) from public;
