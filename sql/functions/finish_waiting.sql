create or replace function posthaste_private.finish_waiting(ids uuid[], status text, error_code text, error_message text)
returns setof posthaste.email_messages
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with waiting as (
    select m.id, posthaste_private.secret_paths(m.template) as secret_paths,
      -- What can never be sent again needs its secrets no more; a failure may be retried.
      m.delivered_to <> '{}' or finish_waiting.status = 'CANCELLED' or finish_waiting.error_code = 'expired' as over,
      array(select distinct a.address from unnest(posthaste_private.addresses_of(m)) a(address)
      where a.address <> all (m.delivered_to) and not m.refused ? a.address) as open
    from posthaste.email_messages m
    where m.id = any (finish_waiting.ids) and m.status = 'PENDING'
    order by m.id
    for update
  )
  -- What some people have received cannot be called back: it ends as SENT, and the rest is noted with the reason.
  update posthaste.email_messages m set
    status = case when m.delivered_to <> '{}' then 'SENT' else finish_waiting.status end,
    refused = m.refused || case when m.delivered_to <> '{}' then coalesce((
      select jsonb_object_agg(o.address, jsonb_build_object('code', null, 'enhanced', null, 'text', finish_waiting.error_code))
      from unnest(w.open) o(address)), '{}') else '{}' end,
    error_code = coalesce(finish_waiting.error_code, m.error_code, 'expired'),
    error_message = coalesce(finish_waiting.error_message, m.error_message),
    parameters = case when w.over and w.secret_paths is distinct from '{}' then posthaste_private.without_secrets(m.parameters, w.secret_paths) else m.parameters end,
    secrets_removed_at = case when w.over and w.secret_paths is distinct from '{}' then coalesce(m.secrets_removed_at, now()) else m.secrets_removed_at end,
    sent_at = case when m.delivered_to <> '{}' then now() end,
    finished_at = now()
  from waiting w where m.id = w.id
  returning m.*
$$;
comment on function posthaste_private.finish_waiting(uuid[], text, text, text) is 'Ends waiting mail as CANCELLED or FAILED, or as SENT where some recipients already have it.';
revoke all on function posthaste_private.finish_waiting(uuid[], text, text, text) from public;
