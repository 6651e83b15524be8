create or replace function posthaste_private.check_attachments(attachments jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item jsonb;
  v_wrong text;
begin
  if jsonb_typeof(attachments) is distinct from 'array' or jsonb_array_length(attachments) > 20 then
    perform posthaste_private.reject('PH006', 'attachments', 'attachments must be a JSON array of at most 20 objects',
      'Write [{"filename": "invoice.pdf", "content_type": "application/pdf", "storage_ref": "files:invoice-42"}].');
  end if;
  for v_item in select value from jsonb_array_elements(attachments) loop
    v_wrong := case
      when jsonb_typeof(v_item) <> 'object' then 'is not an object'
      when exists (select from jsonb_object_keys(v_item) k(key)
        where k.key not in ('filename', 'content_type', 'storage_ref', 'checksum', 'cid', 'owned')) then 'has a key that is not known'
      when exists (select from unnest(array['filename', 'content_type', 'storage_ref']) k(key)
        where jsonb_typeof(v_item -> k.key) is distinct from 'string') then 'lacks filename, content_type or storage_ref, or one is not a string'
      when not posthaste_private.is_filename(v_item ->> 'filename')
        then 'has a filename with a slash or control character, or of more than 150 characters'
      when not posthaste_private.is_attachable(v_item ->> 'content_type') then 'has a content_type that is not type/subtype, or is multipart or message'
      when (v_item ->> 'storage_ref') !~ '^[a-z][a-z0-9_-]{0,62}:[A-Za-z0-9][A-Za-z0-9._/-]*$'
        or length(v_item ->> 'storage_ref') > 576
        or (v_item ->> 'storage_ref') ~ '(\.\.|//|/\.|/$)' then 'has a storage_ref that is not store:key'
      when v_item ? 'checksum' and coalesce(v_item ->> 'checksum', '') !~ '^[0-9a-f]{64}$' then 'has a checksum that is not SHA-256 in hexadecimal'
      when v_item ? 'cid' and coalesce(v_item ->> 'cid', '') !~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,100}$' then 'has a cid that is not a plain word'
      when v_item ? 'owned' and jsonb_typeof(v_item -> 'owned') <> 'boolean' then 'has an owned that is not true or false'
    end;
    if v_wrong is not null then
      perform posthaste_private.reject('PH006', 'attachments', 'an attachment ' || v_wrong,
        'Attachments are references: {"filename", "content_type", "storage_ref": "store:key", "checksum"?, "cid"?, "owned"?}; never bytes, paths or URLs.');
    end if;
  end loop;
end $$;
comment on function posthaste_private.check_attachments(jsonb) is 'Raises PH006 unless every attachment has the right shape.';
revoke all on function posthaste_private.check_attachments(jsonb) from public;
