create or replace function posthaste.resume(transport text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update posthaste_private.transports t set
    paused_at = null, paused_by = null, pause_reason = null,
    allowance = 20,
    next_probe_at = case when t.state = 'open' then now() end
  where t.name = resume.transport and t.paused_at is not null;
  if not found then
    perform posthaste_private.reject('PH021', 'transport', format('transport %L is not paused', left(transport, 70)), 'See posthaste.queue_stats() or `posthaste status`.');
  end if;
  perform posthaste_private.record_action('resume', transport => resume.transport);
end $$;
comment on function posthaste.resume(text) is 'Lets a paused transport send again; maintenance adds the jobs of its waiting mail, in growing numbers. Raises PH021 when it is not paused.';
revoke all on function posthaste.resume(text) from public;
--! roles
grant execute on function posthaste.resume(text) to posthaste_operator;
--! end
