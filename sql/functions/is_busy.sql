create or replace function posthaste_private.is_busy() returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from posthaste.email_messages m where m.status = 'SENDING')
    or exists (
      select from posthaste.email_messages m
      where m.status = 'PENDING' and m.next_attempt_at <= now() and not posthaste_private.is_blocked(m.transport))
$$;
comment on function posthaste_private.is_busy() is 'Whether mail is being sent, or is due and can be sent.';
revoke all on function posthaste_private.is_busy() from public;
