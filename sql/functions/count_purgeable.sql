create or replace function posthaste_private.count_purgeable(status text, age interval) returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select count(*) from posthaste.email_messages m
  where m.status = count_purgeable.status and m.created_at < now() - count_purgeable.age and m.finished_at < now() - count_purgeable.age
$$;
comment on function posthaste_private.count_purgeable(text, interval) is 'How many mails of an end state have reached this age.';
revoke all on function posthaste_private.count_purgeable(text, interval) from public;
