drop function if exists posthaste_private.report_transport(text, text, timestamptz, text, text, jsonb);
create or replace function posthaste_private.report_transport(name text, verdict text, began_at timestamptz, error_code text, reason text, breaker jsonb, email_id uuid default null)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_first interval := (breaker ->> 'probe')::double precision * interval '1 millisecond';
  v_longest interval := (breaker ->> 'max_probe')::double precision * interval '1 millisecond';
  v_state text;
begin
  if verdict = 'close' then
    update posthaste_private.transports t set
      state = 'closed', failures = 0, error_code = null, reason = null, next_probe_at = null, probe_delay = null,
      since = case when t.state = 'open' then now() else t.since end,
      allowance = case when t.state = 'open' then 20 else t.allowance end
    where t.name = report_transport.name and (t.state = 'open' or t.failures > 0)
    returning t.state into v_state;
    return coalesce(v_state, 'closed');
  end if;

  update posthaste_private.transports t set
    failed_at = now(),
    failed_email = report_transport.email_id,
    -- What lies ahead says that the clock was set back.
    served_at = case when t.served_at <= now() then t.served_at end,
    outage_at = case
      -- It goes on as long as nobody is served.
      when t.outage_at >= coalesce(t.served_at, '-infinity')
        -- Another mail before this one: with nobody served in between, or while this one was under way.
        or t.failed_email is distinct from report_transport.email_id
          and t.failed_at >= least(coalesce(t.served_at, '-infinity'), report_transport.began_at)
      then now() else t.outage_at end
  where t.name = report_transport.name;

  update posthaste_private.transports t set
    failures = t.failures + 1,
    error_code = report_transport.error_code,
    reason = left(regexp_replace(report_transport.reason, '[\u0001-\u001f\u007f-\u009f]+', ' ', 'g'), 500),
    state = case when n.opens or t.state = 'open' then 'open' else 'closed' end,
    since = case when n.opens and t.state = 'closed' then now() else t.since end,
    allowance = case when n.opens then null else t.allowance end,
    probe_delay = n.delay,
    next_probe_at = case when n.opens or t.state = 'open' then now() + n.delay * (0.75 + random() / 2) end
  from (
    select o.name, verdict = 'open' or o.failures + 1 >= (breaker ->> 'failures')::int as opens,
      case when o.state = 'open' then least(coalesce(o.probe_delay, v_first) * 2, v_longest) else v_first end as delay
    from posthaste_private.transports o
    where o.name = report_transport.name
    for update
  ) n
  -- Attempts that began before the present state did say nothing about it. A state that began in the future says that the
  -- clock was set back.
  where t.name = n.name and coalesce(began_at, now()) >= least(t.since, now())
  returning t.state into v_state;
  return coalesce(v_state, (select t.state from posthaste_private.transports t where t.name = report_transport.name));
end $$;
comment on function posthaste_private.report_transport(text, text, timestamptz, text, text, jsonb, uuid) is 'Tells the breaker of a transport about an attempt (close: it answered; count: the server failed; open: it needs a human) and returns its state. It opens after breaker.failures in a row, and each failed probe doubles the pause to the next. `email_id` is the mail that the server broke off, null when it failed before one.';
revoke all on function posthaste_private.report_transport(text, text, timestamptz, text, text, jsonb, uuid) from public;
