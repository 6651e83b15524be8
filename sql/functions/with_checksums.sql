create or replace function posthaste_private.with_checksums(attachments jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(case when f.id is null or a.value ? 'checksum' then a.value
    else a.value || jsonb_build_object('checksum', f.checksum) end order by a.ordinality), '[]')
  from jsonb_array_elements(with_checksums.attachments) with ordinality a
  left join posthaste.files f on f.id = case
    when a.value ->> 'storage_ref' ~ '^files:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then substr(a.value ->> 'storage_ref', 7)::uuid end
$$;
comment on function posthaste_private.with_checksums(jsonb) is 'Attachments with the checksums of those files that posthaste.files keeps.';
revoke all on function posthaste_private.with_checksums(jsonb) from public;
