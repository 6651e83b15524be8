create schema if not exists posthaste;
create schema if not exists posthaste_private;
comment on schema posthaste_private is 'Posthaste''s own tables and steps; no application touches them.';
revoke all on schema posthaste from public;
revoke all on schema posthaste_private from public;

create table posthaste_private.settings (
  name text primary key,
  value jsonb not null
);
comment on table posthaste_private.settings is 'Settings of this database: strict, environment, default_transport, max_attempts, the id of the installation and the key of the request fingerprints. Written by posthaste.configure() and by workers.';
comment on column posthaste_private.settings.name is 'Name of the setting.';
comment on column posthaste_private.settings.value is 'Its value.';

create table posthaste.email_messages (
  -- A known idempotency key is told as a conflict of the id, so the name says both.
  id uuid constraint id_or_idempotency_key_is_known primary key,
  status text not null default 'PENDING',
  template text not null,
  parameters jsonb not null default '{}',
  locale text,
  from_address text,
  recipients text[] not null,
  cc text[] not null default '{}',
  bcc text[] not null default '{}',
  reply_to text[] not null default '{}',
  attachments jsonb not null default '[]',
  headers jsonb not null default '{}',
  transport text,
  priority smallint not null default 0,
  idempotency_key text,
  reference text,
  owner text,
  send_at timestamptz not null,
  expires_at timestamptz,
  max_attempts int not null,
  attempt_count int not null default 0,
  deferral_count int not null default 0,
  next_attempt_at timestamptz not null,
  locked_at timestamptz,
  locked_until timestamptz,
  locked_by text,
  lease_token uuid,
  handed_over_at timestamptz,
  delivered_to text[] not null default '{}',
  refused jsonb not null default '{}',
  error_code text,
  error_message text,
  possible_duplicate boolean not null default false,
  message_id text,
  subject text,
  provider_response text,
  transport_used text,
  template_version text,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  finished_at timestamptz,
  constraint status_known check (status in ('PENDING', 'SENDING', 'SENT', 'FAILED', 'CANCELLED')),
  constraint lease_only_while_sending check (
    (status = 'SENDING') = (lease_token is not null) and (lease_token is null) = (locked_until is null)
  ),
  constraint finished_only_in_an_end_state check ((status in ('SENT', 'FAILED', 'CANCELLED')) = (finished_at is not null)),
  constraint sent_at_only_when_sent check ((status = 'SENT') = (sent_at is not null)),
  constraint attempts_within_limit check (attempt_count between 0 and max_attempts and deferral_count >= 0)
) with (
  -- Room in each page for the hand-over and the renewals, which touch no indexed column and stay HOT.
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
-- Lease columns stay out of every index, so that renewing a lease is a HOT update.
create index email_messages_due on posthaste.email_messages (next_attempt_at, id) where status = 'PENDING';
create index email_messages_expiry on posthaste.email_messages (expires_at) where status = 'PENDING' and expires_at is not null;
create index email_messages_sending on posthaste.email_messages (id) where status = 'SENDING';
create index email_messages_failed on posthaste.email_messages (finished_at desc, id) where status = 'FAILED';
create index email_messages_reference on posthaste.email_messages (reference, id) where reference is not null;
comment on index posthaste.email_messages_due is 'What is due, in order: maintenance walks along it.';
comment on index posthaste.email_messages_expiry is 'Waiting mail that has an end.';
comment on index posthaste.email_messages_sending is 'What is being sent: few rows, searched for leases that ran out.';
comment on index posthaste.email_messages_failed is 'Failures, newest first, for operators.';
comment on index posthaste.email_messages_reference is 'All mail about one thing.';

comment on table posthaste.email_messages is 'One row for each email: the queue and the ledger. Insert the request columns or call posthaste.enqueue(); everything else is written by Posthaste''s functions.';
comment on column posthaste.email_messages.id is 'UUID version 7; also the token handed to mail providers.';
comment on column posthaste.email_messages.status is 'PENDING: waiting. SENDING: a worker holds the lease. SENT: accepted by the mail server. FAILED: given up, see error_code. CANCELLED: withdrawn before it was sent.';
comment on column posthaste.email_messages.template is 'Path of the file in emails/ without its ending, e.g. order-confirmed.';
comment on column posthaste.email_messages.parameters is 'What fills the template: a JSON object of at most 64 KiB.';
comment on column posthaste.email_messages.locale is 'BCP 47 tag for the template, e.g. de-CH; null means the template''s own default.';
comment on column posthaste.email_messages.from_address is 'Overrides the configured sender.';
comment on column posthaste.email_messages.recipients is 'The To line as it was at enqueue; each element is user@host or Name <user@host>.';
comment on column posthaste.email_messages.cc is 'Like recipients, in the Cc line.';
comment on column posthaste.email_messages.bcc is 'Like recipients, in no header.';
comment on column posthaste.email_messages.reply_to is 'Where answers go.';
comment on column posthaste.email_messages.attachments is 'References to files: [{"filename","content_type","storage_ref","cid"?,"owned"?}]; never bytes.';
comment on column posthaste.email_messages.headers is 'Extra headers from the allow-list: X-…, List-Unsubscribe, List-Unsubscribe-Post, References, In-Reply-To.';
comment on column posthaste.email_messages.transport is 'Named transport; null means the default of the workers'' configuration.';
comment on column posthaste.email_messages.priority is 'A smaller number runs sooner, as in Graphile Worker.';
comment on column posthaste.email_messages.idempotency_key is 'One key for each business event, e.g. order-confirmed:42.';
comment on column posthaste.email_messages.reference is 'What the mail is about, e.g. order:42.';
comment on column posthaste.email_messages.owner is 'Whose mail it is (user or tenant); row-level security compares it with the setting posthaste.owner.';
comment on column posthaste.email_messages.send_at is 'Not before; also the start of the mail''s age. An operator''s retry sets it to now.';
comment on column posthaste.email_messages.expires_at is 'Not after; null means no limit.';
comment on column posthaste.email_messages.max_attempts is 'Attempts that may be spent, 1 to 100; the workers'' configuration says how many when the request does not.';
comment on column posthaste.email_messages.attempt_count is 'Attempts spent; raised by the claim, given back when the fault was not this mail''s.';
comment on column posthaste.email_messages.deferral_count is 'Attempts given back.';
comment on column posthaste.email_messages.next_attempt_at is 'When it is due.';
comment on column posthaste.email_messages.locked_at is 'When the present attempt began.';
comment on column posthaste.email_messages.locked_until is 'When the lease ends unless it is renewed.';
comment on column posthaste.email_messages.locked_by is 'The worker that holds or last held the lease.';
comment on column posthaste.email_messages.lease_token is 'Proof of holding the lease; new with each claim.';
comment on column posthaste.email_messages.handed_over_at is 'Set just before the final dot of the SMTP dialogue: from then on a copy may have gone out.';
comment on column posthaste.email_messages.delivered_to is 'Bare addresses that the server accepted; they are never mailed again.';
comment on column posthaste.email_messages.refused is 'Addresses refused for good: {"address": {"code","enhanced","text"}}.';
comment on column posthaste.email_messages.error_code is 'Last cause, a word from the table of error codes; safe to show to anyone.';
comment on column posthaste.email_messages.error_message is 'Last cause in full, at most 2,000 characters; may hold addresses and the server''s words: for operators only.';
comment on column posthaste.email_messages.possible_duplicate is 'An earlier attempt was handed over and its outcome is unknown.';
comment on column posthaste.email_messages.message_id is 'Message-ID header, the same for every attempt.';
comment on column posthaste.email_messages.subject is 'Subject as it was sent.';
comment on column posthaste.email_messages.provider_response is 'The server''s reply to the message.';
comment on column posthaste.email_messages.transport_used is 'Transport that sent it.';
comment on column posthaste.email_messages.template_version is 'Version of the template that was sent.';
comment on column posthaste.email_messages.created_at is 'Start of the transaction that enqueued it.';
comment on column posthaste.email_messages.sent_at is 'When the acceptance was recorded.';
comment on column posthaste.email_messages.finished_at is 'When it reached SENT, FAILED or CANCELLED.';

create table posthaste.email_attempts (
  email_id uuid not null references posthaste.email_messages (id) on delete cascade,
  number int not null,
  worker text not null,
  transport text,
  started_at timestamptz not null,
  finished_at timestamptz not null default now(),
  outcome text not null,
  phase text,
  smtp_code int,
  enhanced_code text,
  error_code text,
  error_message text,
  primary key (email_id, number),
  constraint outcome_known check (outcome in ('sent', 'deferred', 'refused', 'failed', 'unknown', 'crashed', 'released')),
  constraint phase_known check (phase in ('render', 'connect', 'tls', 'auth', 'mail', 'rcpt', 'data', 'final_dot'))
);
comment on table posthaste.email_attempts is 'One row for each attempt that ended, written once by the function that ends it.';
comment on column posthaste.email_attempts.email_id is 'The mail.';
comment on column posthaste.email_attempts.number is 'Counts up for each mail and is never used again, also after refunds and retries.';
comment on column posthaste.email_attempts.worker is 'The worker process that made it.';
comment on column posthaste.email_attempts.transport is 'Transport that was used, null when it was not reached.';
comment on column posthaste.email_attempts.started_at is 'When it was claimed.';
comment on column posthaste.email_attempts.finished_at is 'When its end was recorded.';
comment on column posthaste.email_attempts.outcome is 'sent, deferred (tried again later), refused (by the server, for good), failed (by us, for good), unknown (handed over, no reply), crashed (the worker died before the hand-over) or released (given back at shutdown).';
comment on column posthaste.email_attempts.phase is 'How far it got: render, connect, tls, auth, mail, rcpt, data or final_dot.';
comment on column posthaste.email_attempts.smtp_code is 'The server''s reply code.';
comment on column posthaste.email_attempts.enhanced_code is 'Its enhanced status code (RFC 3463).';
comment on column posthaste.email_attempts.error_code is 'Cause, a word from the table of error codes.';
comment on column posthaste.email_attempts.error_message is 'Cause in full, for operators only.';

create table posthaste_private.idempotency_keys (
  key text primary key,
  email_id uuid not null,
  fingerprint bytea not null,
  expires_at timestamptz
);
comment on table posthaste_private.idempotency_keys is 'The only place where a key is unique; outlives the mail, so no foreign key.';
comment on column posthaste_private.idempotency_keys.key is 'The caller''s key.';
comment on column posthaste_private.idempotency_keys.email_id is 'The mail that was enqueued first with it.';
comment on column posthaste_private.idempotency_keys.fingerprint is 'HMAC of template, recipients, cc, bcc and parameters: tells a repeated request from another one without keeping its content.';
comment on column posthaste_private.idempotency_keys.expires_at is 'When the key may be used anew; null while the mail exists.';

create table posthaste_private.recipient_index (
  address text not null,
  email_id uuid not null references posthaste.email_messages (id) on delete cascade,
  primary key (address, email_id)
);
create index recipient_index_email on posthaste_private.recipient_index (email_id);
comment on table posthaste_private.recipient_index is 'Bare lower-case addresses of every mail: insert-only, so that looking for a person costs status changes nothing.';
comment on column posthaste_private.recipient_index.address is 'Bare address in lower case, cut at 320 characters.';
comment on column posthaste_private.recipient_index.email_id is 'The mail.';
comment on index posthaste_private.recipient_index_email is 'Serves the deletion of a mail.';

create table posthaste_private.workers (
  id text primary key,
  pool_id text,
  host text not null,
  version text not null,
  transports text[] not null default '{}',
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  listening boolean not null default false
);
comment on table posthaste_private.workers is 'One row for each worker process; it is alive while it holds the advisory lock of its id.';
comment on column posthaste_private.workers.id is 'Identity of the process, as in email_messages.locked_by.';
comment on column posthaste_private.workers.pool_id is 'Its Graphile Worker pool, as in the jobs'' locked_by.';
comment on column posthaste_private.workers.host is 'Host name and process id, for people.';
comment on column posthaste_private.workers.version is 'Version of the program.';
comment on column posthaste_private.workers.transports is 'Names of the transports in its configuration.';
comment on column posthaste_private.workers.started_at is 'When it started.';
comment on column posthaste_private.workers.heartbeat_at is 'Its last sign of life.';
comment on column posthaste_private.workers.listening is 'Whether notifications reach it.';

create table posthaste_private.templates (
  worker_id text not null,
  name text not null,
  version text not null,
  required text[] not null default '{}',
  secrets text[] not null default '{}',
  on_unknown_outcome text,
  primary key (name, worker_id),
  constraint policy_known check (on_unknown_outcome in ('resend', 'fail'))
);
comment on table posthaste_private.templates is 'What each worker knows how to render.';
comment on column posthaste_private.templates.worker_id is 'The worker, which may be gone: see posthaste_private.reap().';
comment on column posthaste_private.templates.name is 'Name of the template.';
comment on column posthaste_private.templates.version is 'Hash of its content.';
comment on column posthaste_private.templates.required is 'Names of the parameters that must be there.';
comment on column posthaste_private.templates.secrets is 'Paths of the parameters that are secret.';
comment on column posthaste_private.templates.on_unknown_outcome is 'Its own policy for an unknown outcome, null for the configured one.';

create table posthaste_private.transports (
  name text primary key,
  state text not null default 'closed',
  failures int not null default 0,
  error_code text,
  reason text,
  since timestamptz not null default now(),
  next_probe_at timestamptz,
  probe_delay interval,
  allowance int,
  paused_at timestamptz,
  paused_by text,
  pause_reason text,
  constraint state_known check (state in ('closed', 'open'))
);
comment on table posthaste_private.transports is 'Breaker and pause of each transport, obeyed by all workers.';
comment on column posthaste_private.transports.name is 'Name of the transport.';
comment on column posthaste_private.transports.state is 'closed: mail flows. open: the breaker stopped it.';
comment on column posthaste_private.transports.failures is 'Failures of the server in a row.';
comment on column posthaste_private.transports.error_code is 'Why it is open: transport_unavailable or transport_misconfigured.';
comment on column posthaste_private.transports.reason is 'The server''s words, for operators.';
comment on column posthaste_private.transports.since is 'Since when it has been in this state.';
comment on column posthaste_private.transports.next_probe_at is 'When one process tries the server again.';
comment on column posthaste_private.transports.probe_delay is 'The present pause between probes.';
comment on column posthaste_private.transports.allowance is 'Jobs that the next maintenance may add after the breaker closed (slow start); null when there is no limit.';
comment on column posthaste_private.transports.paused_at is 'When an operator paused it.';
comment on column posthaste_private.transports.paused_by is 'Who paused it.';
comment on column posthaste_private.transports.pause_reason is 'Why, in the operator''s words.';

create table posthaste_private.maintenance (
  only_row boolean primary key default true check (only_row),
  ran_at timestamptz not null default '-infinity',
  horizon_at timestamptz not null default '-infinity',
  horizon_id uuid not null default '00000000-0000-0000-0000-000000000000',
  cursor_at timestamptz not null default '-infinity',
  cursor_id uuid not null default '00000000-0000-0000-0000-000000000000'
);
comment on table posthaste_private.maintenance is 'The one row that makes maintenance run one at a time.';
comment on column posthaste_private.maintenance.only_row is 'Keeps the table at one row.';
comment on column posthaste_private.maintenance.ran_at is 'When it last ran.';
comment on column posthaste_private.maintenance.horizon_at is 'Mail due up to here has been given its job as its time came near.';
comment on column posthaste_private.maintenance.horizon_id is 'Breaks ties of horizon_at.';
comment on column posthaste_private.maintenance.cursor_at is 'How far the walk along all due mail, which looks for lost jobs, has come.';
comment on column posthaste_private.maintenance.cursor_id is 'Breaks ties of cursor_at.';

alter table posthaste.email_messages enable row level security;
alter table posthaste.email_attempts enable row level security;
