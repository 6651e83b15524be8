create or replace function posthaste_private.measurements() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result jsonb;
begin
  select to_jsonb(q) - 'oldest_due_at' - 'transports' || jsonb_build_object(
    -- Ages, not times, so that nobody's clock but the database's counts.
    'oldest_due_seconds', coalesce(extract(epoch from now() - q.oldest_due_at), 0),
    'transports', (
      select coalesce(jsonb_agg(jsonb_build_object('name', t.value ->> 'name', 'state', t.value ->> 'state', 'failures', (t.value ->> 'failures')::int,
        'seconds', greatest(0, extract(epoch from now() - (t.value ->> 'since')::timestamptz)))), '[]')
      from jsonb_array_elements(q.transports) t))
  into v_result from posthaste.queue_stats() q;

  v_result := v_result || jsonb_build_object(
    'possible_duplicates', (select count(*) from posthaste.email_messages m where m.possible_duplicate),
    -- Whoever gave it up: a worker, maintenance, or enqueue for a bad address. Bounded, because it may be very many.
    'failed_recently', (
      select coalesce(jsonb_object_agg(e.code, e.number), '{}') from (
        select coalesce(f.error_code, '') as code, count(*) as number from (
          select m.error_code from posthaste.email_messages m
          where m.status = 'FAILED' and m.finished_at > now() - interval '10 minutes'
          order by m.finished_at desc limit 10000
        ) f group by 1
      ) e),
    'maintenance_seconds', (
      select extract(epoch from now() - a.ran_at) from posthaste_private.maintenance a where isfinite(a.ran_at)),
    'snapshot', (select to_jsonb(s) from posthaste_private.oldest_snapshot() s),
    'notification_queue', pg_notification_queue_usage(),
    'purge', posthaste_private.purge_progress(),
    'tables', (
      select coalesce(jsonb_agg(jsonb_build_object('name', s.schemaname || '.' || s.relname, 'dead_rows', s.n_dead_tup,
        'bytes', pg_total_relation_size(s.relid),
        'vacuum_seconds', extract(epoch from now() - greatest(s.last_vacuum, s.last_autovacuum)))), '[]')
      from pg_stat_all_tables s
      where s.schemaname = 'posthaste' or (s.schemaname, s.relname) = ('graphile_worker', '_private_jobs')));
  return v_result;
end $$;
comment on function posthaste_private.measurements() is 'What metrics tell of the database, in one answer: queue_stats() with ages instead of times, mail that may have arrived twice, failures of the last ten minutes by cause (at most 10,000 are counted), maintenance, the oldest snapshot, and tables. No addresses.';
revoke all on function posthaste_private.measurements() from public;
--! roles
grant execute on function posthaste_private.measurements() to posthaste_operator;
--! end
