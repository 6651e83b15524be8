create or replace function posthaste.pause(transport text, reason text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(transport, '') !~ '^[a-z][a-z0-9_-]{0,62}$' then
    perform posthaste_private.reject('PH007', 'transport', 'transport must be the name of a configured transport', 'See the names with posthaste.queue_stats() or `posthaste status`.');
  end if;
  insert into posthaste_private.transports as t (name, paused_at, paused_by, pause_reason)
  values (pause.transport, now(), posthaste_private.actor(), left(pause.reason, 500))
  on conflict (name) do update set paused_at = coalesce(t.paused_at, now()), paused_by = posthaste_private.actor(), pause_reason = left(pause.reason, 500);
  perform posthaste_private.record_action('pause', transport => pause.transport, reason => pause.reason);
end $$;
comment on function posthaste.pause(text, text) is 'Stops a transport until posthaste.resume(): its mail waits, and what is being sent at this moment ends. The reason shows in the status.';
revoke all on function posthaste.pause(text, text) from public;
--! roles
grant execute on function posthaste.pause(text, text) to posthaste_operator;
--! end
