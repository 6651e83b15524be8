create table posthaste.operator_actions (
  id uuid primary key,
  at timestamptz not null default now(),
  actor text not null,
  login text not null,
  action text not null,
  email_id uuid,
  transport text,
  filter jsonb,
  reason text,
  emails int not null default 0,
  outcomes jsonb not null default '{}'
);
create index operator_actions_time on posthaste.operator_actions (at desc, id desc);
comment on table posthaste.operator_actions is 'What operators did, over GraphQL, by the command line or in psql: written by the functions that act, never changed by anybody else. A dry run is no action.';
comment on column posthaste.operator_actions.id is 'UUID version 7.';
comment on column posthaste.operator_actions.at is 'When it began.';
comment on column posthaste.operator_actions.actor is 'Who: the setting posthaste.actor (over GraphQL the subject of the token), otherwise the login.';
comment on column posthaste.operator_actions.login is 'Login of the session.';
comment on column posthaste.operator_actions.action is 'retry, cancel, retry_matching, cancel_matching, pause or resume.';
comment on column posthaste.operator_actions.email_id is 'The one mail that it was about; no foreign key, because the record outlives the mail.';
comment on column posthaste.operator_actions.transport is 'The transport that was paused or resumed.';
comment on column posthaste.operator_actions.filter is 'Which mails it was about, without the address of a recipient.';
comment on column posthaste.operator_actions.reason is 'Why, in the operator''s words.';
comment on column posthaste.operator_actions.emails is 'How many mails it changed.';
comment on column posthaste.operator_actions.outcomes is 'How many mails came to which outcome, e.g. {"retried": 12, "expired": 1}.';
comment on index posthaste.operator_actions_time is 'Newest first.';
alter table posthaste.operator_actions enable row level security;

-- A viewer finds its mail by key under its own rights: the policy asks whether it sees the mail.
alter table posthaste_private.idempotency_keys enable row level security;

-- Newest first within each status: a page of any list comes off one index in order, however rare what it asks for is.
-- The claim and the outcome change the status, which other indexes stand on already, so they were never HOT; the hand-over
-- and the renewals still are, because no column here is one that they touch.
create index email_messages_status on posthaste.email_messages (status, created_at desc, id desc);
create index email_messages_template on posthaste.email_messages (template, status, created_at desc, id desc);
create index email_messages_owner on posthaste.email_messages (owner, status, created_at desc, id desc) where owner is not null;
create index email_messages_error on posthaste.email_messages (error_code, status, created_at desc, id desc) where error_code is not null;
create index email_messages_transport on posthaste.email_messages ((coalesce(transport_used, transport)), status, created_at desc, id desc)
  where coalesce(transport_used, transport) is not null;
create index email_messages_duplicate on posthaste.email_messages (status, created_at desc, id desc) where possible_duplicate;
-- Of an expression in a partial index the planner uses no statistics: it took each transport for equally frequent, and a
-- frequent one for frequent among mail that was not sent, which mostly names none.
create statistics posthaste.email_messages_transport_frequency (mcv) on status, (coalesce(transport_used, transport)) from posthaste.email_messages;
comment on statistics posthaste.email_messages_transport_frequency is 'How frequent each transport is in each status; made by analyze, so it costs writers nothing.';
comment on index posthaste.email_messages_status is 'Lists by status and time. Costs three entries for each mail that is sent at once: enqueued, claimed, sent.';
comment on index posthaste.email_messages_template is 'Lists of one template. Costs as much as email_messages_status.';
comment on index posthaste.email_messages_owner is 'Lists of one user or tenant; nothing for mail without an owner.';
comment on index posthaste.email_messages_error is 'Lists by cause; nothing for mail that is sent at once.';
comment on index posthaste.email_messages_transport is 'Lists of one transport; one entry for each mail, with SENT, unless it names its transport.';
comment on index posthaste.email_messages_duplicate is 'Mail that may have arrived twice; few.';

-- The default is the transaction's start, as it is for the mail that the same transaction inserts.
alter table posthaste_private.recipient_index add column created_at timestamptz not null default now();
update posthaste_private.recipient_index r set created_at = m.created_at from posthaste.email_messages m where m.id = r.email_id;
alter table posthaste_private.recipient_index drop constraint recipient_index_pkey;
-- Read backwards: the mail of a person, newest first.
alter table posthaste_private.recipient_index add primary key (address, created_at, email_id);
comment on column posthaste_private.recipient_index.created_at is 'That of the mail.';
