create or replace function posthaste_private.walk(after_at timestamptz, after_id uuid, until timestamptz, batch int, max_age interval)
returns table (last_at timestamptz, last_id uuid, seen int, added int, given_up int)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_ids uuid[];
  v_old uuid[];
begin
  select array_agg(d.id order by d.next_attempt_at, d.id), coalesce(array_agg(d.id) filter (where d.too_old), '{}'),
    (array_agg(d.next_attempt_at order by d.next_attempt_at desc, d.id desc))[1], (array_agg(d.id order by d.next_attempt_at desc, d.id desc))[1], count(*)
  into v_ids, v_old, last_at, last_id, seen
  from (
    select m.id, m.next_attempt_at, greatest(m.send_at, m.created_at) < now() - walk.max_age as too_old
    from posthaste.email_messages m
    where m.status = 'PENDING' and (m.next_attempt_at, m.id) > (walk.after_at, walk.after_id) and m.next_attempt_at <= walk.until
    order by m.next_attempt_at, m.id
    limit walk.batch
  ) d;
  select count(*) into given_up from posthaste_private.finish_waiting(array(
    select m.id from posthaste.email_messages m where m.id = any (v_old) for update skip locked), 'FAILED', null, null);
  added := posthaste_private.add_missing_jobs(v_ids);
  return next;
end $$;
comment on function posthaste_private.walk(timestamptz, uuid, timestamptz, int, interval) is 'Goes along the waiting mail in the order in which it is due, from one place on and at most `batch` rows: gives up what is too old, adds the jobs that are missing, and tells how far it came.';
revoke all on function posthaste_private.walk(timestamptz, uuid, timestamptz, int, interval) from public;
