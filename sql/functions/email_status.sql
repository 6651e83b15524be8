create or replace function posthaste.email_status(idempotency_key text default null, reference text default null)
returns table (id uuid, template text, status text, created_at timestamptz, sent_at timestamptz, error_code text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if email_status.idempotency_key is null and email_status.reference is null then
    perform posthaste_private.reject('PH007', 'idempotency_key', 'email_status needs an idempotency_key or a reference', 'Write posthaste.email_status(idempotency_key => ''order-confirmed:42'').');
  end if;
  return query
    select m.id, m.template, m.status, m.created_at, m.sent_at, m.error_code
    from posthaste.email_messages m
    where (email_status.idempotency_key is null or m.id = (
        select k.email_id from posthaste_private.idempotency_keys k where k.key = email_status.idempotency_key))
      and (email_status.reference is null or m.reference = email_status.reference)
    order by m.id desc;
end $$;
comment on function posthaste.email_status(text, text) is 'Status of the mail of an idempotency key, or of all mail of a reference, newest first, without addresses, content or the server''s words. No row: no such mail.';
revoke all on function posthaste.email_status(text, text) from public;
--! roles
grant execute on function posthaste.email_status(text, text) to posthaste_producer, posthaste_operator;
--! end
