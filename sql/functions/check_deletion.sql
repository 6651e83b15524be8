create or replace function posthaste_private.check_deletion() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'PH040',
    message = format('a mail that is %s cannot be deleted', old.status),
    hint = 'Only mail that is SENT, FAILED or CANCELLED may go. Withdraw a waiting one with posthaste.cancel().';
end $$;
comment on function posthaste_private.check_deletion() is 'Refuses to delete mail that is still to be sent, whoever tries.';
revoke all on function posthaste_private.check_deletion() from public;

create or replace trigger check_deletion before delete on posthaste.email_messages
  for each row when (old.status in ('PENDING', 'SENDING')) execute function posthaste_private.check_deletion();
comment on trigger check_deletion on posthaste.email_messages is 'No purge, and no mistake in one, can lose a mail that is still to be sent.';
