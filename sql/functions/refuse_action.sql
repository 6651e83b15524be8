create or replace function posthaste_private.refuse_action(id uuid, action text, needed text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
begin
  select m.status into v_status from posthaste.email_messages m where m.id = refuse_action.id;
  if not found then
    perform posthaste_private.reject('PH020', 'id', format('there is no mail %s', coalesce(id::text, 'null')), 'Look it up with posthaste.email_status(…) or `posthaste list`.');
  end if;
  perform posthaste_private.reject('PH021', 'status', format('cannot %s mail %s: it is %s, not %s', action, id, v_status, needed),
    case v_status when 'SENDING' then 'A worker is sending it at this moment; look again in a minute.' else 'It has come to its end.' end,
    'Status: ' || v_status);
end $$;
comment on function posthaste_private.refuse_action(uuid, text, text) is 'Raises PH020 or PH021: why an operator''s action cannot be done.';
revoke all on function posthaste_private.refuse_action(uuid, text, text) from public;
