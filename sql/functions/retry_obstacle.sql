create or replace function posthaste_private.retry_obstacle(email posthaste.email_messages) returns text
language sql stable
as $$
  select case
    when email.expires_at <= now() then 'expired'
    when email.secrets_removed_at is not null then 'secrets removed'
    -- The address stays as it was; a new mail needs a corrected one.
    when email.error_code = 'recipient_invalid' then 'address invalid'
  end
$$;
comment on function posthaste_private.retry_obstacle(posthaste.email_messages) is 'Why a FAILED mail cannot be sent again: expired, secrets removed or address invalid; null when it can. Without a search_path of its own, so that it can be inlined; callers pin theirs.';
revoke all on function posthaste_private.retry_obstacle(posthaste.email_messages) from public;
