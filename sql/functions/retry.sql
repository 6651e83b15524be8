create or replace function posthaste.retry(id uuid) returns posthaste.email_messages
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_email posthaste.email_messages;
begin
  select * into v_email from posthaste_private.retry_failed(array[retry.id]);
  if found then
    perform posthaste_private.record_action('retry', email_id => retry.id, emails => 1, outcomes => '{"retried": 1}');
    return v_email;
  end if;
  case (select posthaste_private.retry_obstacle(m) from posthaste.email_messages m where m.id = retry.id and m.status = 'FAILED')
    when 'expired' then
      perform posthaste_private.reject('PH022', 'expires_at', format('cannot retry mail %s: its expires_at has passed', retry.id), 'Enqueue a new mail if it is still wanted.');
    when 'secrets removed' then
      perform posthaste_private.reject('PH023', 'parameters', format('cannot retry mail %s: its secret parameters have been removed', retry.id),
        'Enqueue a new mail with a new code or link.');
    when 'address invalid' then
      perform posthaste_private.reject('PH024', 'recipients', format('cannot retry mail %s: an address in it cannot be mailed', retry.id),
        'Enqueue a new mail with the corrected address.');
    else null;
  end case;
  perform posthaste_private.refuse_action(retry.id, 'retry', 'FAILED');
end $$;
comment on function posthaste.retry(uuid) is 'Sends a FAILED mail again and returns its row: PENDING, attempts and age start anew, recipients that have it are left out. Raises PH020 when there is no such mail, PH021 when it is not FAILED, PH022 when it has expired, PH023 when its secret parameters are gone, PH024 when an address in it cannot be mailed.';
revoke all on function posthaste.retry(uuid) from public;
--! roles
grant execute on function posthaste.retry(uuid) to posthaste_operator;
--! end
