create or replace function posthaste_private.erase_ended(ids uuid[], archived uuid[], address text, replacement text) returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_files int;
begin
  insert into posthaste_private.orphan_files (storage_ref)
  select distinct f.item ->> 'storage_ref'
  from (
    select to_jsonb(m) as row from posthaste.email_messages m where m.id = any (erase_ended.ids) and m.attachments <> '[]'
    union all
    select to_jsonb(a) from posthaste.email_archive a where a.id = any (erase_ended.archived) and a.attachments <> '[]'
  ) o, jsonb_array_elements(o.row -> 'attachments') f(item)
  where f.item -> 'owned' = 'true' and posthaste_private.erased(o.row, erase_ended.address, erase_ended.replacement) -> 'attachments' = '[]'
  on conflict do nothing;
  get diagnostics v_files = row_count;

  update posthaste.email_messages m set (parameters, from_address, recipients, cc, bcc, reply_to, attachments, headers, idempotency_key, reference, owner,
      delivered_to, refused, error_message, subject, provider_response, secrets_removed_at)
    = (select e.parameters, e.from_address, e.recipients, e.cc, e.bcc, e.reply_to, e.attachments, e.headers, e.idempotency_key, e.reference, e.owner,
      e.delivered_to, e.refused, e.error_message, e.subject, e.provider_response, e.secrets_removed_at
    from jsonb_populate_record(null::posthaste.email_messages, posthaste_private.erased(to_jsonb(m), erase_ended.address, erase_ended.replacement)) e)
  where m.id = any (erase_ended.ids);

  update posthaste.email_archive a set (parameters, from_address, recipients, cc, bcc, reply_to, attachments, headers, idempotency_key, reference, owner,
      delivered_to, refused, error_message, subject, provider_response, attempts)
    = (select e.parameters, e.from_address, e.recipients, e.cc, e.bcc, e.reply_to, e.attachments, e.headers, e.idempotency_key, e.reference, e.owner,
      e.delivered_to, e.refused, e.error_message, e.subject, e.provider_response, e.attempts
    from jsonb_populate_record(null::posthaste.email_archive, posthaste_private.erased(to_jsonb(a), erase_ended.address, erase_ended.replacement)) e)
  where a.id = any (erase_ended.archived);
  return v_files;
end $$;
comment on function posthaste_private.erase_ended(uuid[], uuid[], text, text) is 'Replaces an address in these mails, which no worker holds, and in these archived ones; returns how many owned files have lost their mail.';
revoke all on function posthaste_private.erase_ended(uuid[], uuid[], text, text) from public;
