create or replace function posthaste_private.erase_waiting(ids uuid[], address text, replacement text) returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nobody uuid[];
  v_cancelled int;
begin
  update posthaste.email_messages m set
    recipients = e.recipients, cc = e.cc, bcc = e.bcc, delivered_to = e.delivered_to,
    reply_to = array_remove(e.reply_to, erase_waiting.replacement),
    from_address = nullif(e.from_address, erase_waiting.replacement),
    -- As if it had been refused: nobody mails it, and it counts among those for whom the mail has come to its end.
    refused = e.refused || case when erase_waiting.replacement = any (posthaste_private.addresses_of(e)) and erase_waiting.replacement <> all (e.delivered_to)
      then jsonb_build_object(erase_waiting.replacement, jsonb_build_object('code', null, 'enhanced', null, 'text', 'erased')) else '{}' end
  from posthaste.email_messages o,
    jsonb_populate_record(null::posthaste.email_messages, posthaste_private.erased(to_jsonb(o), erase_waiting.address, erase_waiting.replacement)) e
  where m.id = any (erase_waiting.ids) and o.id = m.id and m.status = 'PENDING';

  select coalesce(array_agg(m.id), '{}') into v_nobody from posthaste.email_messages m
  where m.id = any (erase_waiting.ids) and m.status = 'PENDING'
    and not exists (select from unnest(posthaste_private.addresses_of(m)) a(address) where a.address <> all (m.delivered_to) and not m.refused ? a.address);
  select count(*) into v_cancelled from posthaste_private.finish_waiting(v_nobody, 'CANCELLED', 'cancelled', null);
  return v_cancelled;
end $$;
comment on function posthaste_private.erase_waiting(uuid[], text, text) is 'Takes a person out of waiting mail, and cancels what then has nobody left; returns how many. The other places of a mail that is still to be rendered are erase_ended()''s.';
revoke all on function posthaste_private.erase_waiting(uuid[], text, text) from public;
