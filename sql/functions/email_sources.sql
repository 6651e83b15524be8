create or replace function posthaste_private.email_sources(filter jsonb, together boolean default false) returns table (status text, source text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with wanted as (
    select s.status, s.status = 'SENT' as sent
    from unnest(array['PENDING', 'SENDING', 'SENT', 'FAILED', 'CANCELLED']) s(status)
    where not filter ? 'status'
      or exists (select from unnest(posthaste_private.texts(filter -> 'status')) w(word) where upper(w.word) = s.status)
  )
  select g.status, concat(
    ' from ', case when filter ? 'recipient'
      then 'posthaste_private.recipient_index r join posthaste.email_messages m on m.id = r.email_id' else 'posthaste.email_messages m' end,
    case when cardinality(g.statuses) = 1 then format(' where m.status = %L', g.statuses[1]) else format(' where m.status = any (%L)', g.statuses) end,
    t.condition, posthaste_private.email_conditions(filter))
  from posthaste_private.transport_conditions(filter ->> 'transport') t
  cross join lateral (
    select case when not together then w.status end as status, array_agg(w.status) as statuses
    from wanted w where t.sent or not w.sent
    group by 1
  ) g
$$;
comment on function posthaste_private.email_sources(jsonb, boolean) is 'For each status that a checked filter lets through, or for all of them together, the from and where of a query for its mails, with the filter as $1. There can be two for one status, which have no mail in common.';
revoke all on function posthaste_private.email_sources(jsonb, boolean) from public;
--! roles
grant execute on function posthaste_private.email_sources(jsonb, boolean) to posthaste_operator, posthaste_viewer;
--! end
