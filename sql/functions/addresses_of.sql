create or replace function posthaste_private.addresses_of(email posthaste.email_messages) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(posthaste_private.bare_address(a.mailbox) order by a.position)
  from unnest(email.recipients || email.cc || email.bcc) with ordinality a(mailbox, position)
$$;
comment on function posthaste_private.addresses_of(posthaste.email_messages) is 'Bare addresses of To, Cc and Bcc in this order: the positions that outcomes count in.';
revoke all on function posthaste_private.addresses_of(posthaste.email_messages) from public;
