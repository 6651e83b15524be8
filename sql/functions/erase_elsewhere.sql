create or replace function posthaste_private.erase_elsewhere(ids uuid[], address text, replacement text) returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept uuid[];
  v_actions int;
  v_transports int;
  v_files int;
begin
  -- Of these mails alone: the attempts of others may be going with their mail at this moment.
  update posthaste.email_attempts a set error_message = posthaste_private.erased_text(a.error_message, erase_elsewhere.address, erase_elsewhere.replacement)
  where a.email_id = any (erase_elsewhere.ids) and a.error_message like '%@%';
  update posthaste_private.recipient_index r set address = case r.address when erase_elsewhere.address then erase_elsewhere.replacement
    else posthaste_private.erased_text(r.address, erase_elsewhere.address, erase_elsewhere.replacement) end
  where r.email_id = any (erase_elsewhere.ids) and posthaste_private.holds_address(r.address, erase_elsewhere.address);

  -- A key outlives its mail. That of mail in flight stays with it, for the next run.
  select coalesce(array_agg(m.id), '{}') into v_kept from posthaste.email_messages m where m.status = 'SENDING';
  delete from posthaste_private.idempotency_keys k where k.key in (
    select posthaste_private.erased_text(o.key, erase_elsewhere.address, erase_elsewhere.replacement) from posthaste_private.idempotency_keys o
    where posthaste_private.holds_address(o.key, erase_elsewhere.address) and o.email_id <> all (v_kept));
  update posthaste_private.idempotency_keys k set key = posthaste_private.erased_text(k.key, erase_elsewhere.address, erase_elsewhere.replacement)
  where posthaste_private.holds_address(k.key, erase_elsewhere.address) and k.email_id <> all (v_kept);

  update posthaste.operator_actions a set
    actor = posthaste_private.erased_text(a.actor, erase_elsewhere.address, erase_elsewhere.replacement),
    login = posthaste_private.erased_text(a.login, erase_elsewhere.address, erase_elsewhere.replacement),
    reason = posthaste_private.erased_text(a.reason, erase_elsewhere.address, erase_elsewhere.replacement),
    filter = posthaste_private.erased_text(a.filter::text, erase_elsewhere.address, erase_elsewhere.replacement)::jsonb
  where posthaste_private.holds_address(a::text, erase_elsewhere.address);
  get diagnostics v_actions = row_count;
  update posthaste_private.transports t set
    reason = posthaste_private.erased_text(t.reason, erase_elsewhere.address, erase_elsewhere.replacement),
    paused_by = posthaste_private.erased_text(t.paused_by, erase_elsewhere.address, erase_elsewhere.replacement),
    pause_reason = posthaste_private.erased_text(t.pause_reason, erase_elsewhere.address, erase_elsewhere.replacement)
  where posthaste_private.holds_address(t::text, erase_elsewhere.address);
  get diagnostics v_transports = row_count;
  update posthaste.files f set name = posthaste_private.erased_text(f.name, erase_elsewhere.address, erase_elsewhere.replacement)
  where posthaste_private.holds_address(f.name, erase_elsewhere.address);
  get diagnostics v_files = row_count;
  return v_actions + v_transports + v_files;
end $$;
comment on function posthaste_private.erase_elsewhere(uuid[], text, text) is 'Replaces an address in attempts, the index of recipients, idempotency keys, records of operators'' actions, reasons of transports and names of files; returns how many of the last three held it.';
revoke all on function posthaste_private.erase_elsewhere(uuid[], text, text) from public;
