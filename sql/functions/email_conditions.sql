create or replace function posthaste_private.email_conditions(filter jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- Constant texts only: values stay in the filter, which the statement gets as $1. Only what is asked for is named, because
  -- PostgreSQL checks the right to read a column even where the condition cannot apply.
  select concat(
    case when filter ? 'id' then ' and m.id = any (posthaste_private.texts($1 -> ''id'')::uuid[])' end,
    case when filter ? 'error_code' then case jsonb_typeof(filter -> 'error_code')
      when 'array' then ' and m.error_code = any (posthaste_private.texts($1 -> ''error_code''))'
      else ' and m.error_code = $1 ->> ''error_code''' end end,
    case when filter ? 'template' then ' and m.template = $1 ->> ''template''' end,
    case when filter ? 'reference' then ' and m.reference = $1 ->> ''reference''' end,
    case when filter ? 'owner' then ' and m.owner = $1 ->> ''owner''' end,
    case when filter ? 'since' then ' and m.created_at >= ($1 ->> ''since'')::timestamptz' end,
    case when filter ? 'until' then ' and m.created_at < ($1 ->> ''until'')::timestamptz' end,
    case when filter ? 'possible_duplicate' then case (filter ->> 'possible_duplicate')::boolean
      when true then ' and m.possible_duplicate' else ' and not m.possible_duplicate' end end,
    case when filter ? 'recipient' then ' and r.address = lower(btrim($1 ->> ''recipient''))' end)
$$;
comment on function posthaste_private.email_conditions(jsonb) is 'A checked filter as conditions on the mail m (and on r, the index of recipients), with the filter as $1. Everything but the status and the transport.';
revoke all on function posthaste_private.email_conditions(jsonb) from public;
--! roles
grant execute on function posthaste_private.email_conditions(jsonb) to posthaste_operator, posthaste_viewer;
--! end
