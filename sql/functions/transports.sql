create or replace function posthaste.transports()
returns table (name text, is_default boolean, state text, since timestamptz, failures int, error_code text, reason text, paused_by text, next_probe_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.name, coalesce(t.name = posthaste_private.default_transport(), false), case when t.paused_at is not null then 'paused' else t.state end,
    coalesce(t.paused_at, t.since), t.failures, t.error_code, coalesce(t.pause_reason, t.reason), t.paused_by, t.next_probe_at
  from posthaste_private.transports t order by t.name
$$;
comment on function posthaste.transports() is 'The transports, and why one is stopped. Without the counts of posthaste.queue_stats(), so it costs nothing.';
revoke all on function posthaste.transports() from public;
--! roles
grant execute on function posthaste.transports() to posthaste_operator;
--! end
