create or replace function posthaste_private.setting(name text) returns jsonb
language sql stable
as $$
  select s.value from posthaste_private.settings s where s.name = setting.name
$$;
comment on function posthaste_private.setting(text) is 'Value of a setting of this database; null when it is not set. Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.setting(text) from public;
