create table posthaste.email_archive (
  id uuid primary key,
  status text not null,
  template text not null,
  parameters jsonb not null,
  locale text,
  from_address text,
  recipients text[] not null,
  cc text[] not null,
  bcc text[] not null,
  reply_to text[] not null,
  attachments jsonb not null,
  headers jsonb not null,
  transport text,
  priority smallint not null,
  idempotency_key text,
  reference text,
  owner text,
  send_at timestamptz not null,
  expires_at timestamptz,
  max_attempts int not null,
  attempt_count int not null,
  deferral_count int not null,
  delivered_to text[] not null,
  refused jsonb not null,
  error_code text,
  error_message text,
  possible_duplicate boolean not null,
  message_id text,
  subject text,
  provider_response text,
  transport_used text,
  template_version text,
  created_at timestamptz not null,
  sent_at timestamptz,
  finished_at timestamptz not null,
  secrets_removed_at timestamptz,
  attempts jsonb not null,
  archived_at timestamptz not null default now(),
  constraint only_what_has_ended check (status in ('SENT', 'FAILED', 'CANCELLED'))
);
comment on table posthaste.email_archive is 'Ended mail that retention has moved here instead of deleting it (retention.mode = archive). Nothing reads it but erase_recipient(); it is yours to query, to move on and to delete from.';
do $$
declare
  v_column text;
begin
  for v_column in select a.attname from pg_attribute a
    where a.attrelid = 'posthaste.email_archive'::regclass and a.attnum > 0 and a.attname not in ('attempts', 'archived_at')
  loop
    execute format('comment on column posthaste.email_archive.%I is %L', v_column, 'As in posthaste.email_messages.');
  end loop;
end $$;
comment on column posthaste.email_archive.attempts is 'Its rows of posthaste.email_attempts, in their order, without email_id.';
comment on column posthaste.email_archive.archived_at is 'When it was moved here.';
alter table posthaste.email_archive enable row level security;

-- Only mail with files is in it, and `attachments` is never updated while a mail is on its way: it costs other mail nothing.
create index email_messages_files on posthaste.email_messages using gin (attachments jsonb_path_ops) where attachments <> '[]';
create index email_archive_files on posthaste.email_archive using gin (attachments jsonb_path_ops) where attachments <> '[]';
comment on index posthaste.email_messages_files is 'Who refers to a file: asked before a file is deleted.';
comment on index posthaste.email_archive_files is 'The same for archived mail.';

create table posthaste_private.orphan_files (
  storage_ref text primary key,
  since timestamptz not null default now(),
  next_at timestamptz not null default now(),
  failures int not null default 0
);
create index orphan_files_due on posthaste_private.orphan_files (next_at);
comment on table posthaste_private.orphan_files is 'Owned files whose mail is gone, to be deleted from their stores when nothing refers to them any more. Filled in the transaction that removes the mail, worked off after it.';
comment on column posthaste_private.orphan_files.storage_ref is 'store:key, as in email_messages.attachments.';
comment on column posthaste_private.orphan_files.since is 'When the first mail that owned it went.';
comment on column posthaste_private.orphan_files.next_at is 'Not looked at before.';
comment on column posthaste_private.orphan_files.failures is 'How often its store could not delete it.';
comment on index posthaste_private.orphan_files_due is 'What is to be looked at, in order.';

create index idempotency_keys_expiry on posthaste_private.idempotency_keys (expires_at) where expires_at is not null;
comment on index posthaste_private.idempotency_keys_expiry is 'Keys whose mail is gone; a new key is not in it.';

create table posthaste_private.purges (
  only_row boolean primary key default true check (only_row),
  began_at timestamptz,
  active_at timestamptz,
  ended_at timestamptz,
  complete boolean not null default false,
  removed jsonb not null default '{}'
);
insert into posthaste_private.purges default values;
comment on table posthaste_private.purges is 'The one row that tells how far the latest purge has come.';
comment on column posthaste_private.purges.only_row is 'Keeps the table at one row.';
comment on column posthaste_private.purges.began_at is 'When it began; null when none ever did.';
comment on column posthaste_private.purges.active_at is 'When it last removed something, or began.';
comment on column posthaste_private.purges.ended_at is 'When it ended; null while it runs, and for ever when its process died.';
comment on column posthaste_private.purges.complete is 'Whether it came through, and not to the end of its time.';
comment on column posthaste_private.purges.removed is 'How many it removed: {"SENT", "FAILED", "CANCELLED", "keys", "files"}.';
