create or replace function posthaste_private.settle_orphan(storage_ref text, deleted boolean) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if settle_orphan.deleted then
    delete from posthaste_private.orphan_files o where o.storage_ref = settle_orphan.storage_ref;
    perform posthaste_private.count_removed('files', 1);
  else
    update posthaste_private.orphan_files o set failures = o.failures + 1,
      next_at = now() + least(interval '1 day', interval '1 hour' * power(2, least(o.failures, 5)))
    where o.storage_ref = settle_orphan.storage_ref;
  end if;
end $$;
comment on function posthaste_private.settle_orphan(text, boolean) is 'Tells that an orphan file is gone, or that its store could not delete it: then it is tried again after 1 hour, 2, 4, … at most a day.';
revoke all on function posthaste_private.settle_orphan(text, boolean) from public;
