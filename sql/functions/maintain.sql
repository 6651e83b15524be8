create or replace function posthaste_private.maintain(policy jsonb, pause interval, batch int) returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at posthaste_private.maintenance;
  v_max_age interval := (policy ->> 'max_age')::double precision * interval '1 millisecond';
  v_reaped record;
  v_expired int;
  v_removed int;
  v_near record;
  v_lost record;
  v_batch int;
begin
  -- One at a time, and once a pause however many workers there are; who comes second goes away. A run that lies ahead says
  -- that the clock was set back: nobody waits until it has caught up.
  select * into v_at from posthaste_private.maintenance for update skip locked;
  if not found or v_at.ran_at > now() - pause and v_at.ran_at < now() + pause then
    return '{"ran": false}';
  end if;

  select * into v_reaped from posthaste_private.reap(policy);

  select count(*) into v_expired from posthaste_private.finish_waiting(array(
    -- An operator's open transaction must not hold up everybody's maintenance: what is locked comes next time.
    select m.id from posthaste.email_messages m where m.status = 'PENDING' and m.expires_at <= now() limit batch for update skip locked
  ), 'FAILED', 'expired', null);

  v_removed := posthaste_private.remove_old_secrets(
    coalesce((policy ->> 'secrets_after_failure')::double precision, 86400000) * interval '1 millisecond', batch);

  -- Slow start: after a breaker has closed, a few jobs at first and each time twice as many.
  select least(batch, min(t.allowance)) into v_batch from posthaste_private.transports t where t.state = 'closed' and t.paused_at is null;
  -- What comes near gets its job here. A second walk over everything that is due heals what was lost; it begins anew when it is through.
  select * into v_near from posthaste_private.walk(v_at.horizon_at, v_at.horizon_id, now() + interval '60 seconds', v_batch, v_max_age);
  select * into v_lost from posthaste_private.walk(v_at.cursor_at, v_at.cursor_id, now(), v_batch, v_max_age);
  update posthaste_private.transports t set allowance = case when t.allowance < maintain.batch then t.allowance * 2 end
  where t.allowance is not null and t.state = 'closed' and t.paused_at is null;

  update posthaste_private.maintenance m set
    ran_at = now(),
    horizon_at = coalesce(v_near.last_at, m.horizon_at),
    horizon_id = coalesce(v_near.last_id, m.horizon_id),
    cursor_at = case when v_lost.seen < v_batch then '-infinity' else v_lost.last_at end,
    cursor_id = case when v_lost.seen < v_batch then '00000000-0000-0000-0000-000000000000' else v_lost.last_id end;
  return jsonb_build_object('ran', true, 'crashed', v_reaped.crashed, 'unknown', v_reaped.unknown, 'expired', v_expired,
    'given_up', v_near.given_up + v_lost.given_up, 'readded', v_lost.added, 'scheduled', v_near.added, 'secrets_removed', v_removed,
    'more', v_removed = batch or v_near.seen = v_batch or (v_lost.added > 0 and v_lost.seen = v_batch));
end $$;
comment on function posthaste_private.maintain(jsonb, interval, int) is 'One run of maintenance, unless one ran within `pause` or is running: reaps, expires, adds jobs that are missing, bounded by `batch` however much is waiting. `more` in the answer asks for the next run soon.';
revoke all on function posthaste_private.maintain(jsonb, interval, int) from public;
