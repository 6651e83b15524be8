create or replace function posthaste_private.is_to_blame(email posthaste.email_messages, transport text, error_code text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
-- A plan made while the table is small would read all of it, and is kept while it grows.
set enable_seqscan = off
set jit = off
as $$
  select exists (
    select from posthaste_private.transports t
    cross join lateral (
      select a.finished_at from posthaste.email_attempts a
      where a.email_id = (is_to_blame.email).id and a.transport = t.name and a.error_code = is_to_blame.error_code
        and a.phase in ('mail', 'rcpt', 'data', 'final_dot')
      order by a.number desc limit 1
    ) previous
    where t.name = is_to_blame.transport
      -- Only who was claimed after that failure counts: others may have been under way when an outage began. And what lies
      -- ahead says that the clock was set back.
      and t.served_at > previous.finished_at and t.served_at <= now()
      -- A mail that takes the server down for others looks like an outage; after so many it must come to an end all the same.
      and (previous.finished_at > coalesce(t.outage_at, '-infinity') or (is_to_blame.email).deferral_count >= 20)
  )
$$;
comment on function posthaste_private.is_to_blame(posthaste.email_messages, text, text) is 'Whether this mail, which the server has broken off once more, is the cause itself and not an outage: the last time it was alone in that, and others have been served since.';
revoke all on function posthaste_private.is_to_blame(posthaste.email_messages, text, text) from public;
