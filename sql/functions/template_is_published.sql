create or replace function posthaste_private.template_is_published(name text, worker text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from posthaste_private.templates t join posthaste_private.workers w on w.id = t.worker_id
    where t.name = template_is_published.name and w.id <> template_is_published.worker and posthaste_private.is_alive(w.id)
  )
$$;
comment on function posthaste_private.template_is_published(text, text) is 'Whether another live worker has a template of this name: a deploy is rolling, and the mail can wait for it.';
revoke all on function posthaste_private.template_is_published(text, text) from public;
