create or replace function posthaste_private.retry_failed(ids uuid[]) returns setof posthaste.email_messages
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_retried uuid[];
begin
  with failed as (
    select m.id from posthaste.email_messages m
    where m.id = any (retry_failed.ids) and m.status = 'FAILED' and posthaste_private.retry_obstacle(m) is null
    order by m.id
    for update
  ), retried as (
    update posthaste.email_messages m set
      status = 'PENDING',
      attempt_count = 0,
      send_at = now(),
      next_attempt_at = now(),
      refused = '{}',
      error_code = null,
      error_message = null,
      finished_at = null
    from failed where m.id = failed.id
    returning m.id
  )
  select coalesce(array_agg(r.id), '{}') into v_retried from retried r;
  perform posthaste_private.add_jobs(v_retried);
  return query select m.* from posthaste.email_messages m where m.id = any (v_retried);
end $$;
comment on function posthaste_private.retry_failed(uuid[]) is 'Sets those of these mails that are FAILED, and that nothing keeps from being sent again, to PENDING with fresh attempts and age; recipients that have the mail stay delivered.';
revoke all on function posthaste_private.retry_failed(uuid[]) from public;
