create or replace function posthaste_private.pin_attachments(id uuid, token uuid, checksums text[]) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  update posthaste.email_messages m set attachments = (
    select coalesce(jsonb_agg(jsonb_build_object('checksum', pin_attachments.checksums[a.ordinality::int]) || a.value order by a.ordinality), '[]')
    from jsonb_array_elements(m.attachments) with ordinality a)
  where m.id = pin_attachments.id and m.lease_token = pin_attachments.token
$$;
comment on function posthaste_private.pin_attachments(uuid, uuid, text[]) is 'Keeps the checksums of the files that the first attempt found, in the order of the attachments, for the attempts after it; a checksum that is there already stays. Does nothing without the lease.';
revoke all on function posthaste_private.pin_attachments(uuid, uuid, text[]) from public;
