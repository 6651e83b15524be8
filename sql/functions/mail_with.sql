create or replace function posthaste_private.mail_with(address text) returns table (id uuid, status text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select m.id, m.status from posthaste.email_messages m
  where m.id in (select r.email_id from posthaste_private.recipient_index r where r.address = mail_with.address)
  union
  select m.id, m.status from posthaste.email_messages m where posthaste_private.holds_address(m::text, mail_with.address)
$$;
comment on function posthaste_private.mail_with(text) is 'The mail that holds an address (in lower case) anywhere in its row. Reads the whole table.';
revoke all on function posthaste_private.mail_with(text) from public;
