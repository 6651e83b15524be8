create table posthaste.files (
  id uuid primary key,
  name text not null,
  content_type text not null,
  size int not null,
  checksum text not null,
  bytes bytea not null,
  created_at timestamptz not null default now()
);
-- Not compressed: so a piece is read without the pieces before it, and most attachments are compressed already.
alter table posthaste.files alter column bytes set storage external;
comment on table posthaste.files is 'Files for attachments, put there by posthaste.put_file() and never changed: the store that `storage_ref` calls `files`.';
comment on column posthaste.files.id is 'UUID version 7; with `files:` before it, the storage_ref.';
comment on column posthaste.files.name is 'What it was called; the name in the mail is the attachment''s filename.';
comment on column posthaste.files.content_type is 'type/subtype.';
comment on column posthaste.files.size is 'Bytes.';
comment on column posthaste.files.checksum is 'SHA-256 of the bytes in hexadecimal: every attempt of a mail sends the bytes that were there when it was enqueued.';
comment on column posthaste.files.bytes is 'The content.';
comment on column posthaste.files.created_at is 'Start of the transaction that put it there.';
alter table posthaste.files enable row level security;
