create or replace function posthaste.enqueue(
  template text,
  recipient text default null,
  parameters jsonb default '{}',
  recipients text[] default null,
  cc text[] default null,
  bcc text[] default null,
  reply_to text[] default null,
  from_address text default null,
  locale text default null,
  attachments jsonb default '[]',
  headers jsonb default '{}',
  transport text default null,
  priority int default 0,
  idempotency_key text default null,
  reference text default null,
  owner text default null,
  send_at timestamptz default null,
  expires_at timestamptz default null,
  max_attempts int default null
) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_recipients text[] := case when recipient is null then recipients else recipient || coalesce(recipients, '{}') end;
  v_id uuid;
  v_known posthaste_private.idempotency_keys;
begin
  if priority not between -32768 and 32767 then
    perform posthaste_private.reject('PH007', 'priority', format('priority must be -32768 to 32767, not %s', priority), 'A smaller number runs sooner; 0 is the default.');
  end if;
  insert into posthaste.email_messages (template, recipients, parameters, cc, bcc, reply_to, from_address, locale, attachments,
    headers, transport, priority, idempotency_key, reference, owner, send_at, expires_at, max_attempts)
  values (enqueue.template, coalesce(v_recipients, '{}'), enqueue.parameters, enqueue.cc, enqueue.bcc, enqueue.reply_to, enqueue.from_address,
    enqueue.locale, enqueue.attachments, enqueue.headers, enqueue.transport, enqueue.priority, enqueue.idempotency_key,
    enqueue.reference, enqueue.owner, enqueue.send_at, enqueue.expires_at, enqueue.max_attempts)
  on conflict do nothing
  returning id into v_id;
  if v_id is not null then
    return v_id;
  end if;

  select * into strict v_known from posthaste_private.idempotency_keys k where k.key = enqueue.idempotency_key;
  if v_known.fingerprint is distinct from posthaste_private.fingerprint(enqueue.template, posthaste_private.trimmed(v_recipients),
    posthaste_private.trimmed(enqueue.cc), posthaste_private.trimmed(enqueue.bcc), coalesce(enqueue.parameters, '{}')) then
    perform posthaste_private.reject('PH001', 'idempotency_key',
      format('this idempotency key belongs to another request, the mail %s', v_known.email_id),
      'Use one key for one business event: the same key must come with the same template, recipients and parameters.');
  end if;
  return v_known.email_id;
end $$;
comment on function posthaste.enqueue(text, text, jsonb, text[], text[], text[], text[], text, text, jsonb, jsonb, text, int, text, text, text, timestamptz, timestamptz, int) is
  'Enqueues one email in the caller''s transaction and returns its id. A repeated idempotency_key with the same request returns the first id and adds nothing; with another request it raises PH001. An address that cannot be mailed makes a FAILED row; a malformed call raises an error of the PH class that names the field.';
revoke all on function posthaste.enqueue(text, text, jsonb, text[], text[], text[], text[], text, text, jsonb, jsonb, text, int, text, text, text, timestamptz, timestamptz, int) from public;
--! roles
grant execute on function posthaste.enqueue(text, text, jsonb, text[], text[], text[], text[], text, text, jsonb, jsonb, text, int, text, text, text, timestamptz, timestamptz, int) to posthaste_producer, posthaste_operator;
--! end
