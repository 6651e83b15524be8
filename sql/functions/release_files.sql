create or replace function posthaste_private.release_files() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into posthaste_private.orphan_files (storage_ref)
  select distinct f.item ->> 'storage_ref'
  from old_rows o, jsonb_array_elements(o.attachments) f(item)
  where o.attachments <> '[]' and f.item -> 'owned' = 'true'
    -- What is moved to the archive still refers to its files. Deleted from there, it does no longer.
    and not exists (select from posthaste.email_archive a where a.id = o.id)
  on conflict do nothing;
  return null;
end $$;
comment on function posthaste_private.release_files() is 'Notes the owned files of deleted mail, to be deleted from their stores after the commit.';
revoke all on function posthaste_private.release_files() from public;

create or replace trigger release_files after delete on posthaste.email_messages
  referencing old table as old_rows for each statement execute function posthaste_private.release_files();
comment on trigger release_files on posthaste.email_messages is 'Whoever deletes mail releases its files.';
create or replace trigger release_files after delete on posthaste.email_archive
  referencing old table as old_rows for each statement execute function posthaste_private.release_files();
comment on trigger release_files on posthaste.email_archive is 'Whoever deletes archived mail releases its files.';
