create or replace function posthaste.retry_matching(filter jsonb, dry_run boolean default false, max int default 1000)
returns table (outcome text, emails bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_kept jsonb;
  v_done bigint;
begin
  perform posthaste_private.check_filter(filter);
  v_ids := array(select posthaste_private.matching(posthaste_private.narrowed(retry_matching.filter, 'FAILED'), retry_matching.max));
  select coalesce(jsonb_object_agg(o.obstacle, o.emails), '{}') into v_kept from (
    select posthaste_private.retry_obstacle(m) as obstacle, count(*) as emails
    from posthaste.email_messages m where m.id = any (v_ids) group by 1
  ) o where o.obstacle is not null;
  if dry_run then
    v_done := cardinality(v_ids) - (select coalesce(sum(k.value::bigint), 0) from jsonb_each_text(v_kept) k);
  else
    select count(*) into v_done from posthaste_private.retry_failed(v_ids);
    perform posthaste_private.record_action('retry_matching', filter => retry_matching.filter, emails => v_done::int,
      outcomes => jsonb_build_object('retried', v_done) || v_kept);
  end if;
  return query
    select case when dry_run then 'would be retried' else 'retried' end, v_done
    union all select k.key, k.value::bigint from jsonb_each_text(v_kept) k;
end $$;
comment on function posthaste.retry_matching(jsonb, boolean, int) is 'Sends FAILED mail that a filter matches again, newest first, at most `max` in one call, and counts what happened. With dry_run it only counts. A filter by status is narrowed to FAILED; one for other states matches nothing. An unknown filter key raises PH030.';
revoke all on function posthaste.retry_matching(jsonb, boolean, int) from public;
--! roles
grant execute on function posthaste.retry_matching(jsonb, boolean, int) to posthaste_operator;
--! end
