create or replace function posthaste.email_counts(filter jsonb default '{}', cap int default 10000) returns table (status text, emails int, capped boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cap int := least(greatest(coalesce(cap, 10000), 1), 10000);
  v_counts text;
begin
  perform posthaste_private.check_filter(filter);
  select string_agg(format('select %L::text as status, (select count(*)::int from (select %s limit $2 + 1) c) as emails', s.status, s.source), ' union all ')
  into v_counts from posthaste_private.email_sources(filter) s;
  if v_counts is null then
    return;
  end if;
  return query execute format('select c.status, least(sum(c.emails), $2)::int, sum(c.emails) > $2 from (%s) c group by c.status', v_counts) using filter, v_cap;
end $$;
comment on function posthaste.email_counts(jsonb, int) is 'How many mails of each status a filter matches, counted to the cap (at most 10,000) and no further, so that it stays fast. It runs with the caller''s own rights, like posthaste.email_page().';
revoke all on function posthaste.email_counts(jsonb, int) from public;
--! roles
grant execute on function posthaste.email_counts(jsonb, int) to posthaste_operator, posthaste_viewer;
--! end
