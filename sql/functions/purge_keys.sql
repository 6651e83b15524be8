create or replace function posthaste_private.purge_keys(batch int) returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_removed int;
begin
  with expired as (
    select k.key from posthaste_private.idempotency_keys k where k.expires_at <= now()
    order by k.expires_at
    limit batch
    -- A request that takes an expired key anew goes first.
    for update skip locked
  ), gone as (
    delete from posthaste_private.idempotency_keys k using expired e where k.key = e.key returning 1
  )
  select count(*) into v_removed from gone;
  perform posthaste_private.count_removed('keys', v_removed);
  return v_removed;
end $$;
comment on function posthaste_private.purge_keys(int) is 'Deletes idempotency keys that have expired, at most `batch`, and returns how many.';
revoke all on function posthaste_private.purge_keys(int) from public;
