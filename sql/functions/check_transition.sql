create or replace function posthaste_private.check_transition() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'PH040',
    message = format('an email cannot go from %s to %s', old.status, new.status),
    hint = 'Use posthaste.cancel() and posthaste.retry(); the other steps are the worker''s.';
end $$;
comment on function posthaste_private.check_transition() is 'Refuses a step that the chart of states does not have, whoever makes it.';
revoke all on function posthaste_private.check_transition() from public;

-- The condition is the chart; the function is called for what is not on it, so a good step costs nothing.
create or replace trigger check_transition before update of status on posthaste.email_messages
  for each row when (
    old.status is distinct from new.status
    and (old.status, new.status) not in (
      ('PENDING', 'SENDING'), ('PENDING', 'CANCELLED'), ('PENDING', 'FAILED'), ('PENDING', 'SENT'),
      ('SENDING', 'PENDING'), ('SENDING', 'SENT'), ('SENDING', 'FAILED'),
      ('FAILED', 'PENDING'), ('FAILED', 'SENT'), ('CANCELLED', 'SENT')
    )
  ) execute function posthaste_private.check_transition();
comment on trigger check_transition on posthaste.email_messages is 'Keeps every update on the chart of states.';
