create or replace function posthaste_private.crashes_of(id uuid) returns int
language sql stable
set search_path = pg_catalog, pg_temp
-- A plan made while the table is small would read all of it, and is kept while it grows.
set enable_seqscan = off
set jit = off
as $$
  select count(*)::int from posthaste.email_attempts a where a.email_id = crashes_of.id and a.outcome = 'crashed'
$$;
comment on function posthaste_private.crashes_of(uuid) is 'How many workers died with this mail in hand before they handed it over. From two on it is rendered in a process of its own.';
revoke all on function posthaste_private.crashes_of(uuid) from public;
