create or replace function posthaste_private.claim(ids uuid[], worker text, lease interval, environment text, message_domain text, probing text default null)
returns setof posthaste.email_messages
language sql volatile
set search_path = pg_catalog, pg_temp
-- A plan made while the table is small would read all of it, and is kept while it grows.
set enable_seqscan = off
-- A table without a fitting index is read all the same, at a price that would have the plan compiled: 100 ms and more.
set jit = off
set plan_cache_mode = force_generic_plan
as $$
  with due as (
    select m.id from posthaste.email_messages m
    where m.id = any (claim.ids)
      and m.status = 'PENDING'
      and m.next_attempt_at <= now()
      and (m.expires_at is null or m.expires_at > now())
      and m.attempt_count < m.max_attempts
      and (not posthaste_private.is_blocked(m.transport) or posthaste_private.is_probing(m.transport, claim.probing))
      -- In the same statement as the claim, so that a copy of the database can never be claimed from in between.
      and posthaste_private.setting('environment') = to_jsonb(claim.environment)
    order by m.id
    for update skip locked
  )
  update posthaste.email_messages m set
    status = 'SENDING',
    attempt_count = m.attempt_count + 1,
    locked_at = now(),
    locked_until = now() + claim.lease,
    locked_by = claim.worker,
    lease_token = gen_random_uuid(),
    handed_over_at = null,
    message_id = coalesce(m.message_id, format('<%s@%s>', m.id, claim.message_domain))
  from due where m.id = due.id
  returning m.*
$$;
comment on function posthaste_private.claim(uuid[], text, interval, text, text, text) is 'Takes those of these mails that wait, are due, not expired and not stopped: PENDING to SENDING with a new lease token and one attempt spent. The rest is not returned: their jobs end quietly. `probing` names a transport whose open breaker is passed over, for the one mail that tries it.';
revoke all on function posthaste_private.claim(uuid[], text, interval, text, text, text) from public;
