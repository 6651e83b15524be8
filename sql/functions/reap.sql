create or replace function posthaste_private.reap(policy jsonb) returns table (crashed int, unknown int)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_outcomes jsonb;
begin
  -- The process or its connection is gone when its advisory lock is free. Taking it here keeps a worker that
  -- comes back waiting until this is committed.
  delete from posthaste_private.workers w where w.id in (
    select d.id from posthaste_private.workers d where pg_try_advisory_xact_lock(posthaste_private.worker_lock(d.id)));

  -- What a gone worker knew of a template stays while nobody lives, for strict, and while a mail may need its policy.
  delete from posthaste_private.templates t
  where exists (select from posthaste_private.workers)
    and not exists (select from posthaste_private.workers w where w.id = t.worker_id)
    and not exists (select from posthaste.email_messages m where m.status = 'SENDING' and m.template = t.name);

  -- A transport that was taken out of every configuration must not show as stopped for ever. What an operator paused stays.
  delete from posthaste_private.transports t
  where t.paused_at is null
    and exists (select from posthaste_private.workers)
    and not exists (select from posthaste_private.workers w where t.name = any (w.transports));

  -- What was not handed over can go back at once: its token changes, so a zombie's hand-over is refused.
  select jsonb_agg(jsonb_build_object(
    'id', l.id, 'token', l.lease_token, 'refund', 'no',
    'kind', case when l.handed_over_at is null then 'crashed' else 'unknown' end,
    'phase', case when l.handed_over_at is not null then 'final_dot' end,
    'error_code', case when l.handed_over_at is null then 'worker_crashed' else 'outcome_unknown' end,
    'error_message', case when l.handed_over_at is null then 'the worker stopped before it handed the message over'
      else 'the worker stopped after it handed the message over, and before a reply was recorded' end,
    'on_unknown_outcome', (select min(t.on_unknown_outcome) from posthaste_private.templates t where t.name = l.template)))
  into v_outcomes
  from (
    select m.id, m.lease_token, m.handed_over_at, m.template from posthaste.email_messages m
    where m.status = 'SENDING'
      and (m.locked_until <= now() or m.handed_over_at is null
        and not exists (select from posthaste_private.workers w where w.id = m.locked_by))
    order by m.id
    limit 1000
    for update skip locked
  ) l;
  if v_outcomes is not null then
    perform posthaste_private.record_outcomes(v_outcomes, reap.policy);
  end if;
  return query select
    count(*) filter (where o.value ->> 'kind' = 'crashed')::int, count(*) filter (where o.value ->> 'kind' = 'unknown')::int
  from jsonb_array_elements(coalesce(v_outcomes, '[]')) o;
end $$;
comment on function posthaste_private.reap(jsonb) is 'Forgets workers that are gone and transports that no worker has, and ends the attempts whose lease ran out or whose worker is gone: crashed when nothing was handed over (the first two such attempts of a mail are given back), unknown otherwise.';
revoke all on function posthaste_private.reap(jsonb) from public;
