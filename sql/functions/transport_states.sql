create or replace function posthaste_private.transport_states(transports text[])
returns table (name text, state text, failures int, probe_in double precision)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select t.name, case when t.paused_at is not null then 'paused' else t.state end, t.failures,
    case when t.state = 'open' and t.paused_at is null then greatest(0, extract(epoch from t.next_probe_at - now()) * 1000)::double precision end
  from posthaste_private.transports t where t.name = any (transport_states.transports)
$$;
comment on function posthaste_private.transport_states(text[]) is 'State of these transports, and the milliseconds until the next probe of an open one.';
revoke all on function posthaste_private.transport_states(text[]) from public;
