create or replace function posthaste_private.record_outcomes(outcomes jsonb, policy jsonb)
returns table (id uuid, applied text, status text, attempt_count int, max_attempts int, next_attempt_at timestamptz, idempotency_key text, template text, error_code text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
-- A plan made while the table is small would read all of it, and is kept while it grows: only row by row, by the key.
set enable_seqscan = off
-- A table without a fitting index is read all the same, at a price that would have the plan compiled: 100 ms and more.
set jit = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_results jsonb;
begin
  -- Rows are locked in the order of their ids everywhere, so that no two steps wait for each other in a ring.
  perform 1 from posthaste.email_messages m
  where m.id in (select (o.value ->> 'id')::uuid from jsonb_array_elements(record_outcomes.outcomes) o)
  order by m.id for update;

  with told as (
    select * from jsonb_to_recordset(record_outcomes.outcomes) as o(
      id uuid, token uuid, kind text, accepted int[], refused jsonb, refund text, wait double precision, phase text, smtp_code int,
      enhanced_code text, error_code text, error_message text, transport text, subject text, provider_response text, template_version text,
      on_unknown_outcome text, secrets text[])
  ), merged as materialized (
    select t.*, m as email, m.id is null as gone,
      coalesce(m.status = 'SENDING' and m.lease_token = t.token, false) as holder,
      a.addresses,
      -- What the worker's version calls secret, and what any other version ever did.
      array(select unnest(t.secrets) union select unnest(s.paths) from posthaste_private.template_secrets s where s.template = m.template) as secret_paths,
      array(select distinct d.address from (
        select unnest(m.delivered_to) union all select a.addresses[p.position] from unnest(t.accepted) p(position)
      ) d(address) where d.address is not null order by 1) as delivered
    from told t
    left join posthaste.email_messages m on m.id = t.id
    left join lateral (select posthaste_private.addresses_of(m) as addresses) a on true
  ), counted as materialized (
    select g.*, r.refused_now, r.refunded, (g.email).attempt_count - r.refunded::int as spent,
      array(select distinct x.address from unnest(g.addresses) x(address)
        where x.address <> all (g.delivered) and not r.refused_now ? x.address) as open,
      now() - greatest((g.email).send_at, (g.email).created_at) > (record_outcomes.policy ->> 'max_age')::double precision * interval '1 millisecond' as too_old,
      coalesce(g.on_unknown_outcome, record_outcomes.policy ->> 'on_unknown_outcome', 'resend') as on_unknown
    from merged g
    cross join lateral (
      select ((g.email).refused || case when g.holder then coalesce((
        select jsonb_object_agg(g.addresses[e.key::int], e.value) from jsonb_each(g.refused) e(key, value)
        where g.addresses[e.key::int] is not null), '{}') else '{}' end) - g.delivered as refused_now,
        -- An outage costs nothing, and a body that always kills the server must come to an end: the evidence decides.
        -- `once` is what workers of the version before say.
        g.holder and (g.refund = 'yes'
          or g.refund in ('unproven', 'once') and not posthaste_private.is_to_blame(g.email, g.transport, g.error_code)
          -- What died had more than one mail in hand, and one template may have killed it: that costs the others nothing.
          -- From the third time on the mail cannot have done it by being rendered, and must come to an end.
          or g.kind = 'crashed' and posthaste_private.crashes_of(g.id) < 2) as refunded
    ) r
  ), timed as (
    select c.*, now() + case
        when c.kind = 'released' then coalesce(c.wait, 0) * interval '1 millisecond'
        when c.kind = 'crashed' and c.refunded then interval '0'
        -- Something died with this mail in hand: at once the first time that is spent, then with growing pauses.
        when c.kind in ('unknown', 'crashed') then posthaste_private.backoff(record_outcomes.policy -> 'delays', c.spent - 1)
        else greatest(posthaste_private.backoff(record_outcomes.policy -> 'delays', greatest(c.spent, 1)), c.wait * interval '1 millisecond') end as next_at
    from counted c
  ), judged as (
    select t.*, case
        when t.kind in ('sent', 'failed') then true
        when t.kind = 'released' then false
        when t.kind = 'unknown' and t.on_unknown = 'fail' then true
        else t.spent >= (t.email).max_attempts or t.too_old or coalesce(t.next_at >= (t.email).expires_at, false)
      end as over,
      t.kind not in ('sent', 'failed', 'released') and t.spent < (t.email).max_attempts and not t.too_old
        and coalesce(t.next_at >= (t.email).expires_at, false) and not (t.kind = 'unknown' and t.on_unknown = 'fail') as expires
    from timed t
  ), decided as (
    select j.*, case
        when j.gone then null
        when cardinality(j.open) = 0 and cardinality(j.delivered) > 0 and (j.holder or cardinality(j.accepted) > 0) then 'SENT'
        when not j.holder then (j.email).status
        when j.over and cardinality(j.delivered) > 0 then 'SENT'
        when j.over or cardinality(j.open) = 0 then 'FAILED'
        else 'PENDING'
      end as next_status,
      left(regexp_replace(j.error_message, '[\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'), 2000) as cause
    from judged j
  ), written as (
    update posthaste.email_messages m set
      status = d.next_status,
      delivered_to = d.delivered,
      refused = d.refused_now || case when d.next_status = 'SENT' and d.holder then coalesce((
        select jsonb_object_agg(x.address, jsonb_build_object('code', d.smtp_code, 'enhanced', d.enhanced_code,
          'text', case when d.expires then 'expired' else coalesce(d.error_code, 'not accepted') end)) from unnest(d.open) x(address)), '{}') else '{}' end,
      attempt_count = d.spent,
      deferral_count = m.deferral_count + (d.refunded and d.kind <> 'released')::int,
      next_attempt_at = case when d.next_status = 'PENDING' and d.holder then d.next_at else m.next_attempt_at end,
      locked_until = case when d.holder or d.next_status = 'SENT' then null else m.locked_until end,
      lease_token = case when d.holder or d.next_status = 'SENT' then null else m.lease_token end,
      possible_duplicate = m.possible_duplicate or (d.holder and d.kind = 'unknown'),
      error_code = case
        when d.next_status = 'SENT' and cardinality(d.open) = 0 then case when d.refused_now <> '{}' then 'recipient_refused' end
        when not d.holder or d.kind = 'released' then m.error_code
        when d.expires then 'expired'
        when d.next_status = 'FAILED' and d.kind = 'sent' then 'recipient_refused'
        else d.error_code end,
      error_message = case
        when d.next_status = 'SENT' and cardinality(d.open) = 0 then null
        when not d.holder or d.kind = 'released' then m.error_message
        when d.expires then left('expires_at comes before the next attempt; last cause: ' || coalesce(d.cause, d.error_code, 'unknown'), 2000)
        else d.cause end,
      -- A secret has no business after the mail is sent, and its subject may repeat it.
      parameters = case when d.next_status = 'SENT' and d.secret_paths <> '{}' then posthaste_private.without_secrets(m.parameters, d.secret_paths) else m.parameters end,
      secrets_removed_at = case when d.next_status = 'SENT' and d.secret_paths <> '{}' then coalesce(m.secrets_removed_at, now()) else m.secrets_removed_at end,
      subject = case when d.secret_paths = '{}' then coalesce(d.subject, m.subject) end,
      provider_response = case when cardinality(d.accepted) > 0 then left(d.provider_response, 500) else m.provider_response end,
      transport_used = case when cardinality(d.accepted) > 0 then coalesce(d.transport, m.transport_used) else m.transport_used end,
      template_version = case when cardinality(d.accepted) > 0 then coalesce(d.template_version, m.template_version) else m.template_version end,
      sent_at = case when d.next_status = 'SENT' then coalesce(m.sent_at, now()) end,
      finished_at = case when d.next_status in ('SENT', 'FAILED', 'CANCELLED') then
        case when m.status = d.next_status then m.finished_at else now() end end
    from decided d
    where m.id = d.id and (d.holder or d.delivered is distinct from m.delivered_to)
    -- Late news can end a mail that somebody else is sending: that attempt ends here too, and its hand-over is refused.
    returning m.*, d.holder or (d.email).status = 'SENDING' and d.next_status = 'SENT' as ends, d.holder, d.kind, d.cause, d.phase, d.smtp_code, d.enhanced_code, d.transport as attempt_transport, d.error_code as attempt_code
  ), attempted as (
    insert into posthaste.email_attempts (email_id, number, worker, transport, started_at, outcome, phase, smtp_code, enhanced_code, error_code, error_message)
    select w.id, coalesce((select max(a.number) from posthaste.email_attempts a where a.email_id = w.id), 0) + 1,
      w.locked_by, case when w.holder then w.attempt_transport end, w.locked_at,
      case when not w.holder then 'released' else case w.kind when 'retry' then 'deferred' when 'failed' then
        case when w.smtp_code is null then 'failed' else 'refused' end else w.kind end end,
      case when w.holder then w.phase end, case when w.holder then w.smtp_code end, case when w.holder then w.enhanced_code end,
      case when w.holder then w.attempt_code end, case when w.holder then w.cause else 'accepted in an earlier attempt' end
    from written w where w.ends
  )
  select jsonb_agg(jsonb_build_object('id', d.id, 'applied', case when d.gone then 'gone' when w.id is null then 'ignored' when d.holder then 'recorded' else 'late' end,
    'status', coalesce(w.status, (d.email).status), 'attempt_count', coalesce(w.attempt_count, (d.email).attempt_count), 'max_attempts', (d.email).max_attempts,
    'next_attempt_at', coalesce(w.next_attempt_at, (d.email).next_attempt_at), 'idempotency_key', (d.email).idempotency_key,
    'template', (d.email).template, 'error_code', coalesce(w.error_code, (d.email).error_code),
    'transport', d.transport, 'served_at', case when d.holder and cardinality(d.accepted) > 0 then (d.email).locked_at end))
  into v_results
  from decided d left join written w on w.id = d.id;

  perform posthaste_private.add_jobs(array(
    select (r.value ->> 'id')::uuid from jsonb_array_elements(v_results) r
    where r.value ->> 'applied' = 'recorded' and r.value ->> 'status' = 'PENDING'));
  -- Last, so that whoever waits for the row of a transport waits for nothing else.
  if exists (select from posthaste_private.transports t where t.failed_at >= coalesce(t.served_at, '-infinity')) then
    perform posthaste_private.note_service(v_results);
  end if;
  return query select * from jsonb_to_recordset(v_results) as r(id uuid, applied text, status text, attempt_count int, max_attempts int,
    next_attempt_at timestamptz, idempotency_key text, template text, error_code text);
end $$;
comment on function posthaste_private.record_outcomes(jsonb, jsonb) is 'Ends attempts: the one way out of SENDING. A merge: what the server accepted is added to delivered_to whoever holds the row; everything else needs the matching token. Kinds: sent, retry, failed, unknown (handed over, no reply), crashed (given back twice), released. `accepted` and the keys of `refused` are positions in recipients || cc || bcc, so that a journal of outcomes needs no addresses. `refund` is yes, no, or unproven: given back unless the mail is the cause itself. Each mail at most once in one call.';
revoke all on function posthaste_private.record_outcomes(jsonb, jsonb) from public;
