create or replace function posthaste.put_file(name text, content_type text, bytes bytea) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := posthaste.new_id();
  v_wrong text := case
    when not posthaste_private.is_filename(put_file.name) then 'name'
    when not posthaste_private.is_attachable(put_file.content_type) then 'content_type'
    when put_file.bytes is null or octet_length(put_file.bytes) > 67108864 then 'bytes'
  end;
begin
  if v_wrong is not null then
    perform posthaste_private.reject('PH006', v_wrong, case v_wrong
      when 'name' then 'a file''s name must be 1 to 150 characters without a slash or control character'
      when 'content_type' then 'a file''s content_type must be type/subtype, and neither multipart nor message'
      else format('a file may have 67108864 bytes, not %s', coalesce(octet_length(put_file.bytes)::text, 'null')) end,
      'Write posthaste.put_file(''invoice.pdf'', ''application/pdf'', bytes); for what mail cannot carry, send a link.');
  end if;
  insert into posthaste.files (id, name, content_type, size, checksum, bytes)
  values (v_id, put_file.name, put_file.content_type, octet_length(put_file.bytes), encode(sha256(put_file.bytes), 'hex'), put_file.bytes);
  return 'files:' || v_id;
end $$;
comment on function posthaste.put_file(text, text, bytea) is 'Keeps a file for attachments, in the caller''s transaction, and returns its storage_ref.';
revoke all on function posthaste.put_file(text, text, bytea) from public;
--! roles
grant execute on function posthaste.put_file(text, text, bytea) to posthaste_producer;
--! end
