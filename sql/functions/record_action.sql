create or replace function posthaste_private.record_action(action text, email_id uuid default null, transport text default null,
  filter jsonb default null, reason text default null, emails int default 0, outcomes jsonb default '{}') returns uuid
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := posthaste_private.actor();
  v_action text := current_setting('posthaste.action', true);
  v_id uuid;
begin
  if v_action ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    -- Only one's own, and only while it can still be under way.
    update posthaste.operator_actions a set
      emails = a.emails + record_action.emails,
      outcomes = a.outcomes || coalesce((select jsonb_object_agg(o.key, coalesce((a.outcomes ->> o.key)::bigint, 0) + o.value::bigint)
        from jsonb_each_text(record_action.outcomes) o), '{}')
    where a.id = v_action::uuid and a.login = session_user and a.actor = v_actor and a.action = record_action.action
      and a.at > now() - interval '1 hour'
    returning a.id into v_id;
  end if;
  if v_id is null then
    insert into posthaste.operator_actions (id, actor, login, action, email_id, transport, filter, reason, emails, outcomes)
    values (posthaste.new_id(), v_actor, session_user, record_action.action, record_action.email_id, left(record_action.transport, 100),
      case when record_action.filter ? 'recipient' then record_action.filter || '{"recipient": "(an address)"}' else record_action.filter end,
      left(record_action.reason, 500), record_action.emails, record_action.outcomes)
    returning id into v_id;
  end if;
  return v_id;
end $$;
comment on function posthaste_private.record_action(text, uuid, text, jsonb, text, int, jsonb) is 'Records what an operator did, in the transaction that does it. With the setting posthaste.action it is added to the action that posthaste.begin_action() began.';
revoke all on function posthaste_private.record_action(text, uuid, text, jsonb, text, int, jsonb) from public;
