create or replace function posthaste_private.is_attachable(content_type text) returns boolean
language sql immutable parallel safe
as $$
  -- RFC 2046 5.1 and 5.2.1: the parts of multipart and message must not be base64, so their bytes would not arrive as they are.
  select coalesce(is_attachable.content_type ~ '^[A-Za-z0-9!#$&^_.+-]{1,80}/[A-Za-z0-9!#$&^_.+-]{1,80}$'
    and is_attachable.content_type !~* '^(multipart|message)/', false)
$$;
comment on function posthaste_private.is_attachable(text) is 'Whether an attachment may be of that type. Without a search_path of its own, so that it can be inlined; callers pin theirs.';
revoke all on function posthaste_private.is_attachable(text) from public;
