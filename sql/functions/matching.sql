create or replace function posthaste_private.matching(filter jsonb, max int) returns setof uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- Each call plans anew with the filter's values in hand, so that conditions that do not apply fold away.
set plan_cache_mode = force_custom_plan
as $$
declare
  v_ids uuid[] := case when filter ? 'id' then array(select (v #>> '{}')::uuid from jsonb_array_elements(case jsonb_typeof(filter -> 'id') when 'array' then filter -> 'id' else jsonb_build_array(filter -> 'id') end) v) end;
  v_status text[] := case when filter ? 'status' then array(select upper(v #>> '{}') from jsonb_array_elements(case jsonb_typeof(filter -> 'status') when 'array' then filter -> 'status' else jsonb_build_array(filter -> 'status') end) v) end;
  v_codes text[] := case when filter ? 'error_code' then array(select v #>> '{}' from jsonb_array_elements(case jsonb_typeof(filter -> 'error_code') when 'array' then filter -> 'error_code' else jsonb_build_array(filter -> 'error_code') end) v) end;
  v_since timestamptz := (filter ->> 'since')::timestamptz;
  v_until timestamptz := (filter ->> 'until')::timestamptz;
begin
  perform posthaste_private.check_filter(filter);
  return query
    select m.id from posthaste.email_messages m
    where (v_ids is null or m.id = any (v_ids))
      and (v_status is null or m.status = any (v_status))
      and (v_codes is null or m.error_code = any (v_codes))
      and (v_since is null or m.created_at >= v_since)
      and (v_until is null or m.created_at < v_until)
      and (filter ->> 'template' is null or m.template = filter ->> 'template')
      and (filter ->> 'reference' is null or m.reference = filter ->> 'reference')
      and (filter ->> 'owner' is null or m.owner = filter ->> 'owner')
      and (filter ->> 'transport' is null or coalesce(m.transport_used, m.transport, (select posthaste_private.default_transport())) = filter ->> 'transport')
      and (filter ->> 'possible_duplicate' is null or m.possible_duplicate = (filter ->> 'possible_duplicate')::boolean)
      and (filter ->> 'recipient' is null or m.id in (
        select r.email_id from posthaste_private.recipient_index r where r.address = lower(btrim(filter ->> 'recipient'))))
    order by m.id desc
    limit max;
end $$;
comment on function posthaste_private.matching(jsonb, int) is 'Ids of the mails that a filter matches, newest first. Keys: id, status, error_code (string or array), template, reference, owner, recipient (exact address), transport, since, until, possible_duplicate.';
revoke all on function posthaste_private.matching(jsonb, int) from public;
--! roles
grant execute on function posthaste_private.matching(jsonb, int) to posthaste_operator;
--! end
