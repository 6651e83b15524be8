alter table posthaste_private.transports
  add column failed_at timestamptz,
  add column failed_email uuid,
  add column served_at timestamptz,
  add column outage_at timestamptz;
comment on column posthaste_private.transports.failed_at is 'When the latest failure of the server was told.';
comment on column posthaste_private.transports.failed_email is 'The mail that it broke off then (it may be gone); null: it failed before any mail was named.';
comment on column posthaste_private.transports.served_at is 'When the latest mail was claimed that the server then took. Kept only from a failure on until a mail that was claimed after it.';
comment on column posthaste_private.transports.outage_at is 'The latest failure of an outage: it struck more than one mail, with nobody served in between. One alone may be the cause itself.';
