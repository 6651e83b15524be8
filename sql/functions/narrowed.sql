create or replace function posthaste_private.narrowed(filter jsonb, status text) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select filter || jsonb_build_object('status', case
    when not filter ? 'status' or exists (
      select from unnest(posthaste_private.texts(filter -> 'status')) s(word) where upper(s.word) = narrowed.status
    ) then jsonb_build_array(narrowed.status)
    -- Who asks for other states must not hit the mail of this one.
    else '[]' end)
$$;
comment on function posthaste_private.narrowed(jsonb, text) is 'A filter that matches mail of one status only; nothing when it asks for other states.';
revoke all on function posthaste_private.narrowed(jsonb, text) from public;
