create or replace function posthaste_private.is_filename(name text) returns boolean
language sql immutable parallel safe
as $$
  -- Marks that turn the direction of writing make gpj.exe of exe.jpg.
  select coalesce(is_filename.name ~ '^[^/\\\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]{1,150}$', false)
$$;
comment on function posthaste_private.is_filename(text) is 'Whether an attachment may be called that. Without a search_path of its own, so that it can be inlined; callers pin theirs.';
revoke all on function posthaste_private.is_filename(text) from public;
