create or replace function posthaste_private.actor() returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select left(coalesce(nullif(regexp_replace(current_setting('posthaste.actor', true), '[[:cntrl:]]+', ' ', 'g'), ''), session_user), 200)
$$;
comment on function posthaste_private.actor() is 'Who acts: the setting posthaste.actor, which the HTTP server sets to the subject of the token, otherwise the login.';
revoke all on function posthaste_private.actor() from public;
