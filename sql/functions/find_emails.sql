create or replace function posthaste_private.find_emails(word text, max int) returns setof posthaste.email_messages
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if word ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return query select m.* from posthaste.email_messages m where m.id = word::uuid;
    return;
  end if;
  return query select m.* from posthaste.email_messages m
    where m.id = (select k.email_id from posthaste_private.idempotency_keys k where k.key = word)
      or m.id in (select r.id from posthaste.email_messages r where r.reference = word order by r.id desc limit max)
    order by m.id desc limit max;
end $$;
comment on function posthaste_private.find_emails(text, int) is 'The mails of an id, an idempotency key or a reference, newest first.';
revoke all on function posthaste_private.find_emails(text, int) from public;
--! roles
grant execute on function posthaste_private.find_emails(text, int) to posthaste_operator;
--! end
