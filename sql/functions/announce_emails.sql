create or replace function posthaste_private.announce_emails() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into posthaste_private.recipient_index (address, email_id)
  select distinct left(lower(posthaste_private.bare_address(a.mailbox)), 320), n.id
  from new_rows n, unnest(n.recipients || n.cc || n.bcc) a(mailbox)
  where posthaste_private.bare_address(a.mailbox) <> '';
  perform posthaste_private.add_jobs(array(select n.id from new_rows n where n.status = 'PENDING'));
  return null;
end $$;
comment on function posthaste_private.announce_emails() is 'Adds the jobs of a whole insert in one call, hence with one notification, and indexes its recipients.';
revoke all on function posthaste_private.announce_emails() from public;

create or replace trigger announce_emails after insert on posthaste.email_messages
  referencing new table as new_rows for each statement execute function posthaste_private.announce_emails();
comment on trigger announce_emails on posthaste.email_messages is 'Adds the jobs in the transaction of the insert.';
