create or replace function posthaste.retry_matching(filter jsonb, dry_run boolean default false, max int default 1000)
returns table (outcome text, emails bigint)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_expired bigint;
  v_secretless bigint;
  v_done bigint;
begin
  perform posthaste_private.check_filter(filter);
  v_ids := array(select posthaste_private.matching(posthaste_private.narrowed(retry_matching.filter, 'FAILED'), retry_matching.max));
  select count(*) filter (where m.expires_at <= now()),
    count(*) filter (where m.secrets_removed_at is not null and (m.expires_at <= now()) is not true)
  into v_expired, v_secretless
  from posthaste.email_messages m where m.id = any (v_ids);
  if dry_run then
    v_done := cardinality(v_ids) - v_expired - v_secretless;
  else
    select count(*) into v_done from posthaste_private.retry_failed(v_ids);
    perform posthaste_private.record_action('retry_matching', filter => retry_matching.filter, emails => v_done::int,
      outcomes => jsonb_strip_nulls(jsonb_build_object('retried', v_done, 'expired', nullif(v_expired, 0), 'secrets removed', nullif(v_secretless, 0))));
  end if;
  return query
    select c.outcome, c.emails from (values
      (case when dry_run then 'would be retried' else 'retried' end, v_done), ('expired', v_expired), ('secrets removed', v_secretless)
    ) c(outcome, emails) where c.emails > 0 or c.outcome not in ('expired', 'secrets removed');
end $$;
comment on function posthaste.retry_matching(jsonb, boolean, int) is 'Sends FAILED mail that a filter matches again, newest first, at most `max` in one call, and counts what happened. With dry_run it only counts. A filter by status is narrowed to FAILED; one for other states matches nothing. An unknown filter key raises PH030.';
revoke all on function posthaste.retry_matching(jsonb, boolean, int) from public;
--! roles
grant execute on function posthaste.retry_matching(jsonb, boolean, int) to posthaste_operator;
--! end
