create or replace function posthaste_private.add_missing_jobs(ids uuid[]) returns int
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  -- A job counts when it can still run: not used up, and not locked by a pool that no live worker owns. A pool that has
  -- held it for a minute may not know that it does: the answer to its fetch was lost with the connection. If it does know,
  -- the second job finds the mail taken, or sent, and ends.
  select posthaste_private.add_jobs(array(
    select i.id from unnest(add_missing_jobs.ids) i(id)
    where not exists (
      select from graphile_worker.jobs j
      where j.key = 'posthaste:' || i.id
        and case when j.locked_by is null then j.attempts < j.max_attempts
          else j.locked_at > now() - interval '1 minute' and j.locked_by in (select w.pool_id from posthaste_private.workers w) end
    )
  ))
$$;
comment on function posthaste_private.add_missing_jobs(uuid[]) is 'Gives those of these mails a job that have none which can still run; returns how many.';
revoke all on function posthaste_private.add_missing_jobs(uuid[]) from public;
