create or replace function posthaste_private.register_worker(worker text, host text, version text, default_transport text, max_attempts int, transports text[], templates jsonb)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  -- An earlier connection of the same process may be half dead: lost for the process, alive for the server, holding the lock.
  perform pg_terminate_backend(l.pid)
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.pid <> pg_backend_pid()
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = posthaste_private.worker_lock(worker)
    and a.application_name = current_setting('application_name');
  -- And when this host loses its power, nobody says goodbye: the server is to notice within half a minute, and free the lock.
  perform set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '4', false);
  perform pg_advisory_lock(posthaste_private.worker_lock(worker));
  insert into posthaste_private.workers as w (id, host, version, transports)
  values (register_worker.worker, register_worker.host, register_worker.version, register_worker.transports)
  on conflict (id) do update set heartbeat_at = now();

  perform posthaste_private.publish_templates(worker, templates);

  insert into posthaste_private.transports (name) select t.name from unnest(register_worker.transports) t(name)
  -- In one order, so that workers that start together do not wait for each other in a ring.
  order by 1 on conflict (name) do nothing;
  insert into posthaste_private.settings as s (name, value)
  values ('default_transport', to_jsonb(register_worker.default_transport)), ('max_attempts', to_jsonb(register_worker.max_attempts))
  on conflict (name) do update set value = excluded.value where s.value is distinct from excluded.value;
end $$;
comment on function posthaste_private.register_worker(text, text, text, text, int, text[], jsonb) is 'Announces a worker on the connection that it keeps open: takes its advisory lock for the session and publishes its templates and transports.';
revoke all on function posthaste_private.register_worker(text, text, text, text, int, text[], jsonb) from public;
