/** What the model needs in a test's database: the clock, the state as one value, and a log of every step. */
export const SCENE = `
create schema model;

create function model.micros(at timestamptz) returns float8 language sql immutable as
  $$ select (extract(epoch from at) * 1000000)::float8 $$;

-- The clock moves by moving every time of every row the other way: seen from the rows, it is later, or earlier.
create function model.move_clock(by interval) returns void language plpgsql as $$
declare
  v_table record;
begin
  for v_table in
    select c.oid::regclass as name, string_agg(format('%1$I = %1$I - $1', a.attname), ', ') as moves
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace in ('posthaste'::regnamespace, 'posthaste_private'::regnamespace, 'graphile_worker'::regnamespace)
      and a.atttypid = 'timestamptz'::regtype and not a.attisdropped and a.attname <> 'applied_at' and c.relname <> 'migrations'
    group by c.oid
  loop
    execute format('update %s set %s', v_table.name, v_table.moves) using move_clock.by;
  end loop;
end $$;

-- What a statement with one argument answers, or the code of its refusal; any other error is one.
create function model.answer(statement text, value jsonb) returns table (answer text, result text, at float8) language plpgsql as $$
begin
  at := model.micros(now());
  begin
    execute statement into result using value;
    answer := 'done';
  exception when sqlstate 'PH001' or sqlstate 'PH020' or sqlstate 'PH021' or sqlstate 'PH022' or sqlstate 'PH023' or sqlstate 'PH024' then
    answer := sqlstate;
  end;
  return next;
end $$;

create table model.steps (old text not null, new text not null);
create function model.log_step() returns trigger language plpgsql as
  $$ begin insert into model.steps values (old.status, new.status); return null; end $$;
create trigger log_step after update of status on posthaste.email_messages
  for each row when (old.status is distinct from new.status) execute function model.log_step();

create function model.state() returns jsonb language sql stable as $$
  select jsonb_build_object(
    'now', model.micros(now()),
    'mails', coalesce((select jsonb_agg(jsonb_build_object('slot', coalesce(m.idempotency_key, m.id::text), 'mail', jsonb_build_object(
      'id', m.id, 'status', m.status, 'attempts', m.attempt_count, 'deferrals', m.deferral_count, 'maxAttempts', m.max_attempts,
      'token', m.lease_token, 'worker', m.locked_by, 'leaseUntil', model.micros(m.locked_until), 'handedOver', m.handed_over_at is not null,
      'addresses', posthaste_private.addresses_of(m), 'delivered', m.delivered_to,
      'refused', array(select jsonb_object_keys(m.refused) order by 1), 'duplicate', m.possible_duplicate, 'error', m.error_code,
      'due', model.micros(m.next_attempt_at), 'dueUntil', model.micros(m.next_attempt_at), 'sendAt', model.micros(m.send_at),
      'createdAt', model.micros(m.created_at), 'expiresAt', model.micros(m.expires_at), 'endedAt', model.micros(m.finished_at),
      'secret', m.template = 'login-code', 'bad', 'no address' = any (m.recipients), 'secretsGone', m.secrets_removed_at is not null,
      'ends', coalesce((select jsonb_agg(concat_ws(' ', a.outcome, coalesce(a.phase, '-'), coalesce(a.error_code, '-')) order by a.number)
        from posthaste.email_attempts a where a.email_id = m.id), '[]'),
      'brokenOff', (select model.micros(a.finished_at)
        from posthaste.email_attempts a where a.email_id = m.id and a.error_code = 'transport_unavailable' and a.phase <> 'connect'
        order by a.number desc limit 1)))) from posthaste.email_messages m), '[]'),
    'keys', coalesce((select jsonb_agg(jsonb_build_object('slot', k.key, 'id', k.email_id, 'until', model.micros(k.expires_at)))
      from posthaste_private.idempotency_keys k), '[]'),
    'transport', (select jsonb_build_object('paused', t.paused_at is not null, 'open', t.state = 'open',
        'servedAt', model.micros(t.served_at), 'outageAt', model.micros(t.outage_at))
      from posthaste_private.transports t where t.name = 'default'),
    'workers', array(select w.id from posthaste_private.workers w),
    -- A job that can run: not used up, and not in the hands of a pool that is gone.
    'jobs', array(select substr(j.key, 11) from graphile_worker.jobs j where starts_with(j.key, 'posthaste:')
      and case when j.locked_by is null then j.attempts < j.max_attempts
        else j.locked_by in (select w.pool_id from posthaste_private.workers w) end),
    'wrongNumbers', (select count(*) from (select max(a.number) - count(*) as missing from posthaste.email_attempts a group by a.email_id) n
      where n.missing <> 0)
  )
$$;
`;

/** Brings the database back to before the first command. */
export const RESET = `
truncate posthaste.email_messages, posthaste.email_archive, posthaste.operator_actions, posthaste_private.idempotency_keys,
  graphile_worker._private_jobs, model.steps cascade;
update posthaste_private.transports set state = 'closed', failures = 0, paused_at = null, allowance = null, next_probe_at = null, since = now(),
  failed_at = null, failed_email = null, served_at = null, outage_at = null;
update posthaste_private.maintenance set ran_at = '-infinity', horizon_at = '-infinity', cursor_at = '-infinity';
`;
