create or replace function posthaste_private.is_blocked(transport text) returns boolean
language sql stable
as $$
  select exists (
    select from posthaste_private.transports t
    where t.name = coalesce(is_blocked.transport, posthaste_private.setting('default_transport') #>> '{}')
      and (t.state = 'open' or t.paused_at is not null)
  )
$$;
comment on function posthaste_private.is_blocked(text) is 'Whether the breaker or an operator has stopped this transport (null: the default one). Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.is_blocked(text) from public;
