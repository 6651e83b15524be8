create or replace function posthaste_private.list_emails(filter jsonb, max int) returns setof posthaste.email_messages
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select m.* from posthaste.email_messages m
  where m.id = any (array(select posthaste_private.matching(list_emails.filter, list_emails.max)))
  order by m.id desc
$$;
comment on function posthaste_private.list_emails(jsonb, int) is 'The mails that a filter matches, newest first; keys as in posthaste_private.matching().';
revoke all on function posthaste_private.list_emails(jsonb, int) from public;
--! roles
grant execute on function posthaste_private.list_emails(jsonb, int) to posthaste_operator;
--! end
