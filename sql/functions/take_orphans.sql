create or replace function posthaste_private.take_orphans(hold interval, batch int) returns setof text
language sql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
-- A table without an index for it is read all the same, at a price that would have the plan compiled: 300 ms for one row.
set jit = off
as $$
  with due as materialized (
    select o.storage_ref, jsonb_build_array(jsonb_build_object('storage_ref', o.storage_ref)) as wanted
    from posthaste_private.orphan_files o where o.next_at <= now()
    order by o.next_at
    limit take_orphans.batch
    for update skip locked
  ), judged as (
    select d.storage_ref,
      exists (select from posthaste.email_messages m where m.attachments <> '[]' and m.attachments @> d.wanted)
      or exists (select from posthaste.email_archive a where a.attachments <> '[]' and a.attachments @> d.wanted) as used
    from due d
  ), held as (
    -- Held, so that two purges do not delete one file; and what another mail still needs is looked at tomorrow.
    update posthaste_private.orphan_files o set next_at = now() + case when j.used then interval '1 day' else take_orphans.hold end
    from judged j where o.storage_ref = j.storage_ref
    returning o.storage_ref, j.used
  )
  select h.storage_ref from held h where not h.used
$$;
comment on function posthaste_private.take_orphans(interval, int) is 'Files to be deleted now: those whose owners are gone and that no mail refers to, here or in the archive. Given to one caller for the time of `hold`.';
revoke all on function posthaste_private.take_orphans(interval, int) from public;
