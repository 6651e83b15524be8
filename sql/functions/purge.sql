create or replace function posthaste_private.purge(status text, age interval, archive boolean, keep_keys interval, after_at timestamptz, after_id uuid, batch int)
returns table (last_at timestamptz, last_id uuid, seen int, removed int)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
-- A plan made while the table is small would read all of it, and is kept while it grows.
set enable_seqscan = off
-- A table without an index for it is read all the same, at a price that would have the plan compiled: 300 ms for one row.
set jit = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_until timestamptz := now() - age;
  v_ids uuid[];
begin
  if purge.status not in ('SENT', 'FAILED', 'CANCELLED') then
    perform posthaste_private.reject('PH007', 'status', format('mail that is %s is never purged', purge.status), 'Give SENT, FAILED or CANCELLED.');
  end if;
  -- Along the index of lists, so that retention needs none of its own: nothing ends before it was created. Bounded by what it
  -- looks at, not by what it finds; and from a place on, because what an earlier step has deleted is still in the index.
  select array_agg(e.id) filter (where e.finished_at < v_until), count(*),
    (array_agg(e.created_at order by e.created_at desc, e.id desc))[1], (array_agg(e.id order by e.created_at desc, e.id desc))[1]
  into v_ids, seen, last_at, last_id
  from (
    select m.id, m.created_at, m.finished_at from posthaste.email_messages m
    where m.status = purge.status and m.created_at < v_until and (m.created_at, m.id) > (purge.after_at, purge.after_id)
    order by m.created_at, m.id
    limit least(greatest(purge.batch, 1), 1000)
  ) e;

  with ended as (
    select m.id, m.idempotency_key from posthaste.email_messages m
    where m.id = any (v_ids) and m.status = purge.status and m.finished_at < v_until
    order by m.id
    -- An operator's retry, or late news of an acceptance, goes first.
    for update skip locked
  ), keys as (
    -- So does a producer that is told at this moment that its key is known: it holds the key and goes on to the mail.
    select k.email_id from ended e join posthaste_private.idempotency_keys k on k.key = e.idempotency_key and k.email_id = e.id
    for update of k skip locked
  ), old as (
    select e.id from ended e
    where e.id in (select k.email_id from keys k)
      or not exists (select from posthaste_private.idempotency_keys k where k.key = e.idempotency_key and k.email_id = e.id)
  ), gone as (
    delete from posthaste.email_messages m using old where m.id = old.id returning m.*
  ), moved as (
    insert into posthaste.email_archive (id, status, template, parameters, locale, from_address, recipients, cc, bcc, reply_to, attachments,
      headers, transport, priority, idempotency_key, reference, owner, send_at, expires_at, max_attempts, attempt_count, deferral_count,
      delivered_to, refused, error_code, error_message, possible_duplicate, message_id, subject, provider_response, transport_used,
      template_version, created_at, sent_at, finished_at, secrets_removed_at, attempts)
    -- FAILED mail may still have its secrets for a retry, which an archive does not offer.
    select g.id, g.status, g.template, case when g.status = 'FAILED' and g.secrets_removed_at is null
        then posthaste_private.without_secrets(g.parameters, posthaste_private.secret_paths(g.template)) else g.parameters end, g.locale, g.from_address, g.recipients, g.cc, g.bcc, g.reply_to, g.attachments,
      g.headers, g.transport, g.priority, g.idempotency_key, g.reference, g.owner, g.send_at, g.expires_at, g.max_attempts, g.attempt_count, g.deferral_count,
      g.delivered_to, g.refused, g.error_code, g.error_message, g.possible_duplicate, g.message_id, g.subject, g.provider_response, g.transport_used,
      g.template_version, g.created_at, g.sent_at, g.finished_at, g.secrets_removed_at,
      coalesce((select jsonb_agg(to_jsonb(a) - 'email_id' order by a.number) from posthaste.email_attempts a where a.email_id = g.id), '[]')
    from gone g where purge.archive
  ), kept as (
    -- The business event does not happen anew because its mail is gone.
    update posthaste_private.idempotency_keys k set expires_at = now() + purge.keep_keys
    from gone g where k.key = g.idempotency_key and k.email_id = g.id
  )
  select count(*) into removed from gone;
  perform posthaste_private.count_removed(purge.status, removed);
  return next;
end $$;
comment on function posthaste_private.purge(text, interval, boolean, interval, timestamptz, uuid, int) is 'One step of a purge: looks at the next mails of a status from one place on, at most `batch` and at most 1,000, deletes or archives those that ended longer ago than `age`, and tells how far it came. A step that has seen fewer than it might was the last. Raises PH007 for a status that is not an end.';
revoke all on function posthaste_private.purge(text, interval, boolean, interval, timestamptz, uuid, int) from public;
