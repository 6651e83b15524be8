create or replace function posthaste_private.is_strict() returns boolean
language sql stable
as $$
  select coalesce(posthaste_private.setting('strict') = 'true', false)
    or coalesce(lower(current_setting('posthaste.strict', true)) in ('on', 'true', 'yes', '1'), false)
$$;
comment on function posthaste_private.is_strict() is 'Whether bad recipients, unknown templates and missing parameters raise: the setting strict, or the session''s posthaste.strict. Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.is_strict() from public;
