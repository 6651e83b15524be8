create or replace function posthaste.cancel(id uuid) returns posthaste.email_messages
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_email posthaste.email_messages;
begin
  select * into v_email from posthaste_private.finish_waiting(array[cancel.id], 'CANCELLED', 'cancelled', null);
  if found then
    perform posthaste_private.record_action('cancel', email_id => cancel.id, emails => 1, outcomes => '{"cancelled": 1}');
    return v_email;
  end if;
  perform posthaste_private.refuse_action(cancel.id, 'cancel', 'PENDING');
end $$;
comment on function posthaste.cancel(uuid) is 'Withdraws a mail that is still waiting and returns its row: CANCELLED, or SENT when some recipients already have it. Raises PH020 when there is no such mail, PH021 when its status is another one.';
revoke all on function posthaste.cancel(uuid) from public;
--! roles
grant execute on function posthaste.cancel(uuid) to posthaste_operator;
--! end
