create or replace function posthaste_private.prepare_email() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_strict boolean := posthaste_private.is_strict();
  v_line text;
  v_mailbox text;
  v_reason text;
  v_known posthaste_private.idempotency_keys;
begin
  if lower(current_setting('posthaste.strict', true)) not in ('', 'on', 'true', 'yes', '1', 'off', 'false', 'no', '0') then
    perform posthaste_private.reject('PH030', 'strict', format('the setting posthaste.strict must be on or off; it is %L', left(current_setting('posthaste.strict'), 30)),
      'Write set posthaste.strict = on, or reset posthaste.strict.');
  end if;
  new.recipients := posthaste_private.trimmed(new.recipients);
  new.cc := posthaste_private.trimmed(new.cc);
  new.bcc := posthaste_private.trimmed(new.bcc);
  new.reply_to := posthaste_private.trimmed(new.reply_to);
  new.parameters := coalesce(new.parameters, '{}');
  new.attachments := coalesce(new.attachments, '[]');
  new.headers := coalesce(new.headers, '{}');
  new.priority := coalesce(new.priority, 0);
  new.max_attempts := coalesce(new.max_attempts, (posthaste_private.setting('max_attempts') #>> '{}')::int, 8);
  new.send_at := coalesce(new.send_at, now());
  perform posthaste_private.check_request(new);
  if new.attachments <> '[]' then
    new.attachments := posthaste_private.with_checksums(new.attachments);
  end if;

  -- Whoever inserts, and whatever it says: the rest of the row belongs to Posthaste.
  new.id := coalesce(new.id, posthaste.new_id());
  new.status := 'PENDING';
  new.attempt_count := 0;
  new.deferral_count := 0;
  new.next_attempt_at := new.send_at;
  new.locked_at := null;
  new.locked_until := null;
  new.locked_by := null;
  new.lease_token := null;
  new.handed_over_at := null;
  new.delivered_to := '{}';
  new.refused := '{}';
  new.error_code := null;
  new.error_message := null;
  new.possible_duplicate := false;
  new.message_id := null;
  new.subject := null;
  new.provider_response := null;
  new.transport_used := null;
  new.template_version := null;
  new.created_at := now();
  new.sent_at := null;
  new.finished_at := null;
  new.secrets_removed_at := null;

  foreach v_mailbox in array new.recipients || new.cc || new.bcc || new.reply_to loop
    v_reason := posthaste_private.address_error(v_mailbox);
    continue when v_reason is null;
    v_line := case when v_mailbox = any (new.recipients) then 'recipients' when v_mailbox = any (new.cc) then 'cc'
      when v_mailbox = any (new.bcc) then 'bcc' else 'reply_to' end;
    if v_strict then
      perform posthaste_private.reject('PH010', v_line, format('an address in %s cannot be mailed: %s', v_line, v_reason),
        'Correct the address. Without the setting strict the mail would be kept as FAILED with recipient_invalid.');
    end if;
    new.status := 'FAILED';
    new.finished_at := now();
    new.error_code := 'recipient_invalid';
    new.error_message := format('%s: %s', v_line, v_reason);
    exit;
  end loop;

  if v_strict then
    perform posthaste_private.check_template(new.template, new.parameters);
  end if;

  if new.idempotency_key is not null then
    -- Waits for a transaction that is using the same key at this moment; an expired key starts anew.
    insert into posthaste_private.idempotency_keys as k (key, email_id, fingerprint)
    values (new.idempotency_key, new.id,
      posthaste_private.fingerprint(new.template, new.recipients, new.cc, new.bcc, new.parameters))
    on conflict (key) do update set email_id = excluded.email_id, fingerprint = excluded.fingerprint, expires_at = null
    where k.expires_at <= now();
    if not found then
      select * into strict v_known from posthaste_private.idempotency_keys k where k.key = new.idempotency_key;
      if not exists (select from posthaste.email_messages m where m.id = v_known.email_id) then
        raise warning 'the mail of this idempotency key was sent and deleted; nothing is enqueued' using errcode = 'PH001', column = 'idempotency_key';
        return null;
      end if;
      -- The primary key tells the statement about the repetition in its own terms: unique_violation, or `on conflict do nothing`.
      new.id := v_known.email_id;
    end if;
  end if;
  return new;
end $$;
comment on function posthaste_private.prepare_email() is 'Checks a request before any constraint sees it, makes a bad recipient a FAILED row, and takes the idempotency key.';
revoke all on function posthaste_private.prepare_email() from public;

create or replace trigger prepare_email before insert on posthaste.email_messages
  for each row execute function posthaste_private.prepare_email();
comment on trigger prepare_email on posthaste.email_messages is 'Checks and completes each request.';
