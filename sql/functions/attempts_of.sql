create or replace function posthaste_private.attempts_of(id uuid) returns setof posthaste.email_attempts
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select a.* from posthaste.email_attempts a where a.email_id = attempts_of.id order by a.number
$$;
comment on function posthaste_private.attempts_of(uuid) is 'The attempts of a mail in their order.';
revoke all on function posthaste_private.attempts_of(uuid) from public;
--! roles
grant execute on function posthaste_private.attempts_of(uuid) to posthaste_operator;
--! end
