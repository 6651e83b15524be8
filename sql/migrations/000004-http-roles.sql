--! roles
grant select on posthaste.operator_actions to posthaste_operator;
create policy operator_reads on posthaste.operator_actions for select to posthaste_operator using (true);
comment on policy operator_reads on posthaste.operator_actions is 'An operator reads what operators did.';

grant usage on schema posthaste_private to posthaste_viewer;
-- Whoever sees the mail may find it by its key: the inner query is under the reader's own policies.
grant select (key, email_id) on posthaste_private.idempotency_keys to posthaste_operator, posthaste_viewer;
create policy seen_with_the_mail on posthaste_private.idempotency_keys for select to posthaste_operator, posthaste_viewer
  using (exists (select from posthaste.email_messages m where m.id = email_id));
comment on policy seen_with_the_mail on posthaste_private.idempotency_keys is 'A key shows to those who see its mail.';

grant select on posthaste_private.recipient_index to posthaste_operator;
-- What the mail is about, so that a page about an order finds the order's mail.
grant select (reference) on posthaste.email_messages to posthaste_viewer;

-- The HTTP server has no rights but these two roles', and must know whether the schema fits it.
grant select on posthaste_private.migrations to posthaste_operator, posthaste_viewer;
