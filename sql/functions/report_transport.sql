create or replace function posthaste_private.report_transport(name text, verdict text, began_at timestamptz, error_code text, reason text, breaker jsonb)
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
comment on function posthaste_private.report_transport(text, text, timestamptz, text, text, jsonb) is 'Tells the breaker of a transport about an attempt (close: it answered; count: the server failed; open: it needs a human) and returns its state. It opens after breaker.failures in a row, and each failed probe doubles the pause to the next.';
revoke all on function posthaste_private.report_transport(text, text, timestamptz, text, text, jsonb) from public;
