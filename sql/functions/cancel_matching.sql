create or replace function posthaste.cancel_matching(filter jsonb, dry_run boolean default false, max int default 1000)
returns table (outcome text, emails bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_outcomes jsonb;
begin
  perform posthaste_private.check_filter(filter);
  v_ids := array(select posthaste_private.matching(posthaste_private.narrowed(cancel_matching.filter, 'PENDING'), cancel_matching.max));
  if dry_run then
    return query select 'would be cancelled', count(*) from unnest(v_ids);
  else
    select coalesce(jsonb_object_agg(c.outcome, c.emails), '{}') into v_outcomes from (
      select case f.status when 'SENT' then 'sent to some already' else 'cancelled' end as outcome, count(*) as emails
      from posthaste_private.finish_waiting(v_ids, 'CANCELLED', 'cancelled', null) f group by 1) c;
    perform posthaste_private.record_action('cancel_matching', filter => cancel_matching.filter,
      emails => (select coalesce(sum(o.value::int), 0)::int from jsonb_each_text(v_outcomes) o), outcomes => v_outcomes);
    return query select o.key, o.value::bigint from jsonb_each_text(v_outcomes) o;
  end if;
end $$;
comment on function posthaste.cancel_matching(jsonb, boolean, int) is 'Cancels waiting mail that a filter matches, newest first, at most `max` in one call, and counts what happened. With dry_run it only counts. A filter by status is narrowed to PENDING; one for other states matches nothing. An unknown filter key raises PH030.';
revoke all on function posthaste.cancel_matching(jsonb, boolean, int) from public;
--! roles
grant execute on function posthaste.cancel_matching(jsonb, boolean, int) to posthaste_operator;
--! end
