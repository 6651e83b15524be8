create or replace function posthaste.begin_action(action text, filter jsonb) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if action not in ('retry_matching', 'cancel_matching') then
    perform posthaste_private.reject('PH007', 'action', 'action must be retry_matching or cancel_matching', 'The other actions are one call each.');
  end if;
  perform posthaste_private.check_filter(filter);
  return posthaste_private.record_action(begin_action.action, filter => begin_action.filter);
end $$;
comment on function posthaste.begin_action(text, jsonb) is 'Begins an action that is done in several calls, each in its own transaction: they count as one in posthaste.operator_actions when they have the answer as the setting posthaste.action, within an hour.';
revoke all on function posthaste.begin_action(text, jsonb) from public;
--! roles
grant execute on function posthaste.begin_action(text, jsonb) to posthaste_operator;
--! end
