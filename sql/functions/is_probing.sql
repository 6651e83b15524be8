create or replace function posthaste_private.is_probing(transport text, probing text) returns boolean
language sql stable
as $$
  select is_probing.probing = coalesce(is_probing.transport, posthaste_private.setting('default_transport') #>> '{}')
    and not exists (select from posthaste_private.transports t where t.name = is_probing.probing and t.paused_at is not null)
$$;
comment on function posthaste_private.is_probing(text, text) is 'Whether this is the transport being probed, and no operator has paused it. Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.is_probing(text, text) from public;
