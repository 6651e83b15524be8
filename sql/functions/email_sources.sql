create or replace function posthaste_private.email_sources(filter jsonb) returns table (status text, source text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.status, concat(
    ' from ', case when filter ? 'recipient'
      then 'posthaste_private.recipient_index r join posthaste.email_messages m on m.id = r.email_id' else 'posthaste.email_messages m' end,
    format(' where m.status = %L', s.status), posthaste_private.email_conditions(filter))
  from unnest(array['PENDING', 'SENDING', 'SENT', 'FAILED', 'CANCELLED']) s(status)
  where not filter ? 'status'
    or exists (select from unnest(posthaste_private.texts(filter -> 'status')) w(word) where upper(w.word) = s.status)
$$;
comment on function posthaste_private.email_sources(jsonb) is 'For each status that a checked filter lets through, the from and where of a query for its mails, with the filter as $1.';
revoke all on function posthaste_private.email_sources(jsonb) from public;
--! roles
grant execute on function posthaste_private.email_sources(jsonb) to posthaste_operator, posthaste_viewer;
--! end
