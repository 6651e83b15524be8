create or replace function posthaste.pause(transport text, reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(transport, '') !~ '^[a-z][a-z0-9_-]{0,62}$' then
    perform posthaste_private.reject('PH007', 'transport', 'transport must be the name of a configured transport', 'See the names with posthaste.queue_stats() or `posthaste status`.');
  end if;
  -- A mistyped name would stop nothing. Before the first worker no names are known, and each one is believed.
  if posthaste_private.default_transport() is not null and not exists (select from posthaste_private.transports t where t.name = pause.transport) then
    perform posthaste_private.reject('PH007', 'transport', format('no worker has had a transport %L, so nothing is paused', pause.transport),
      (select format('Known: %s.', string_agg(t.name, ', ' order by t.name)) from posthaste_private.transports t));
  end if;
  insert into posthaste_private.transports as t (name, paused_at, paused_by, pause_reason)
  values (pause.transport, now(), posthaste_private.actor(), left(pause.reason, 500))
  on conflict (name) do update set paused_at = coalesce(t.paused_at, now()), paused_by = posthaste_private.actor(), pause_reason = left(pause.reason, 500);
  perform posthaste_private.record_action('pause', transport => pause.transport, reason => pause.reason);
end $$;
comment on function posthaste.pause(text, text) is 'Stops a transport until posthaste.resume(): its mail waits, and what is being sent at this moment ends. The reason shows in the status. Raises PH007 for a name that no worker has had, unless none has run yet.';
revoke all on function posthaste.pause(text, text) from public;
--! roles
grant execute on function posthaste.pause(text, text) to posthaste_operator;
--! end
