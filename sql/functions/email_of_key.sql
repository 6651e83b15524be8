create or replace function posthaste.email_of_key(idempotency_key text) returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select m.id from posthaste_private.idempotency_keys k join posthaste.email_messages m on m.id = k.email_id
  where k.key = email_of_key.idempotency_key
$$;
comment on function posthaste.email_of_key(text) is 'The id of the mail of an idempotency key; null when there is none, or none that the caller may see: it runs with the caller''s own rights.';
revoke all on function posthaste.email_of_key(text) from public;
--! roles
grant execute on function posthaste.email_of_key(text) to posthaste_operator, posthaste_viewer;
--! end
