--! roles
-- Roles belong to the whole cluster: another database may be making the same ones at this moment.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['posthaste_producer', 'posthaste_operator', 'posthaste_viewer'] loop
    if not exists (select from pg_roles where rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
end $$;

grant usage on schema posthaste to posthaste_producer, posthaste_operator, posthaste_viewer;
grant usage on schema posthaste_private to posthaste_operator;

grant insert (template, parameters, locale, from_address, recipients, cc, bcc, reply_to, attachments, headers, transport,
  priority, idempotency_key, reference, owner, send_at, expires_at, max_attempts) on posthaste.email_messages to posthaste_producer;
grant select (id, idempotency_key) on posthaste.email_messages to posthaste_producer;
create policy producer_inserts on posthaste.email_messages for insert to posthaste_producer with check (true);
-- created_at is the start of the inserting transaction, set by a trigger: `returning id` works, and nobody else's rows show.
create policy producer_sees_its_inserts on posthaste.email_messages for select to posthaste_producer using (created_at = now());

grant select on posthaste.email_messages, posthaste.email_attempts to posthaste_operator;
create policy operator_reads on posthaste.email_messages for select to posthaste_operator using (true);
create policy operator_reads on posthaste.email_attempts for select to posthaste_operator using (true);

grant select (id, template, status, created_at, sent_at, error_code, owner) on posthaste.email_messages to posthaste_viewer;
create policy viewer_reads_its_own on posthaste.email_messages for select to posthaste_viewer
  using (owner = nullif(current_setting('posthaste.owner', true), ''));

comment on policy producer_inserts on posthaste.email_messages is 'A producer may enqueue.';
comment on policy producer_sees_its_inserts on posthaste.email_messages is 'A producer sees the ids of what its own transaction inserted.';
comment on policy operator_reads on posthaste.email_messages is 'An operator reads all mail.';
comment on policy operator_reads on posthaste.email_attempts is 'An operator reads all attempts.';
comment on policy viewer_reads_its_own on posthaste.email_messages is 'A viewer reads the safe columns of the mail whose owner is the setting posthaste.owner.';
