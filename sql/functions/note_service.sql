create or replace function posthaste_private.note_service(results jsonb) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with served as (
    select r.value ->> 'transport' as name, max((r.value ->> 'served_at')::timestamptz) as at
    from jsonb_array_elements(note_service.results) r group by 1
  ), free as (
    -- Nobody waits for this: what is locked is told by the next mail.
    select t.name, s.at from posthaste_private.transports t join served s on s.name = t.name
    where t.failed_at >= coalesce(t.served_at, '-infinity') and s.at > coalesce(t.served_at, '-infinity')
    for no key update of t skip locked
  )
  update posthaste_private.transports t set served_at = f.at from free f where t.name = f.name
$$;
comment on function posthaste_private.note_service(jsonb) is 'Notes which transports served somebody, for those that have failed since they last did: an array of {"transport", "served_at"}, the latter being when the mail was claimed, null for one that nobody accepted.';
revoke all on function posthaste_private.note_service(jsonb) from public;
