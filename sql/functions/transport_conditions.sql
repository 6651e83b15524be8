create or replace function posthaste_private.transport_conditions(transport text) returns table (condition text, sent boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select '', true where transport_conditions.transport is null
  union all
  select ' and coalesce(m.transport_used, m.transport) = $1 ->> ''transport''', true where transport_conditions.transport is not null
  union all
  -- Mail that names no transport will go by the default. One condition for both would have no index; what was sent says by which.
  select ' and m.transport_used is null and m.transport is null', false
  where transport_conditions.transport = posthaste_private.default_transport()
$$;
comment on function posthaste_private.transport_conditions(text) is 'The conditions on the mail m, no two of which hold together, one of which a mail of this transport fulfils; and whether it can be SENT then. The filter is $1.';
revoke all on function posthaste_private.transport_conditions(text) from public;
--! roles
grant execute on function posthaste_private.transport_conditions(text) to posthaste_operator, posthaste_viewer;
--! end
