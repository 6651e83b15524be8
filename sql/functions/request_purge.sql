create or replace function posthaste_private.request_purge(delay interval) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- One job however often it is asked for, and before any mail's: a backlog does not hold it up.
  perform graphile_worker.add_job('posthaste/purge_emails', '{}'::json, run_at => now() + delay, job_key => 'posthaste:purge', priority => -100);
end $$;
comment on function posthaste_private.request_purge(interval) is 'Asks the workers for a purge after this time, besides the daily one.';
revoke all on function posthaste_private.request_purge(interval) from public;
