create or replace function posthaste.email_page(
  filter jsonb default '{}', sort text default 'newest', max int default 50, after_at timestamptz default null, after_id uuid default null
) returns table (id uuid, at timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max int := least(greatest(coalesce(max, 50), 0), 1000);
  v_due boolean := coalesce(sort, '') = 'next_due';
  -- Through the index of recipients the order is that index's own.
  v_at text := case when v_due then 'm.next_attempt_at' when filter ? 'recipient' then 'r.created_at' else 'm.created_at' end;
  v_id text := case when not v_due and filter ? 'recipient' then 'r.email_id' else 'm.id' end;
  v_way text := case when v_due then 'asc' else 'desc' end;
  v_pages text;
begin
  perform posthaste_private.check_filter(filter);
  if not v_due and sort is distinct from 'newest' then
    perform posthaste_private.reject('PH030', 'sort', 'sort must be newest or next_due', 'newest: enqueued last comes first; next_due: waiting mail, due first.');
  end if;
  -- One query for each status, merged: each comes off an index in order, and the planner knows how frequent that status is.
  -- A person's mail is one list in the index of recipients. Only waiting mail is ever due.
  select string_agg(format('(select %s as id, %s as at%s%s order by %2$s %5$s, %1$s %5$s limit $2)', v_id, v_at, s.source,
    case when after_at is not null then format(' and (%s, %s) %s ($3, $4)', v_at, v_id, case when v_due then '>' else '<' end) end, v_way), ' union all ')
  into v_pages
  from posthaste_private.email_sources(filter, filter ? 'recipient' and not v_due) s
  where not v_due or s.status = 'PENDING';
  if v_pages is null then
    return;
  end if;
  return query execute format('select p.id, p.at from (%s) p order by p.at %s, p.id %2$s limit $2', v_pages, v_way)
    using filter, v_max, after_at, coalesce(after_id, '00000000-0000-0000-0000-000000000000');
end $$;
comment on function posthaste.email_page(jsonb, text, int, timestamptz, uuid) is 'One page of the mails that a filter matches, at most 1,000: newest first, or waiting mail that is due next first. after_at and after_id are the last row of the page before. It runs with the caller''s own rights: a viewer sees its own mail, and may not filter by what it may not read. An unknown filter key raises PH030.';
revoke all on function posthaste.email_page(jsonb, text, int, timestamptz, uuid) from public;
--! roles
grant execute on function posthaste.email_page(jsonb, text, int, timestamptz, uuid) to posthaste_operator, posthaste_viewer;
--! end
