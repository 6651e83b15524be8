create or replace function posthaste_private.reject(code text, field text, message text, hint text, detail text default null) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = code,
    message = message,
    hint = hint,
    detail = coalesce(detail, 'Field: ' || field),
    schema = 'posthaste',
    table = 'email_messages',
    column = field;
end $$;
comment on function posthaste_private.reject(text, text, text, text, text) is 'Raises an error of the PH class that names the field. The caller keeps values out that could be secret or personal.';
revoke all on function posthaste_private.reject(text, text, text, text, text) from public;
--! roles
grant execute on function posthaste_private.reject(text, text, text, text, text) to posthaste_operator, posthaste_viewer;
--! end
