create or replace function posthaste_private.fingerprint(template text, recipients text[], cc text[], bcc text[], parameters jsonb) returns bytea
language sql stable
as $$
  -- HMAC-SHA-256 (RFC 2104). jsonb prints keys in one order and without free white space, so equal requests print alike.
  select sha256(decode(k.value ->> 'outer', 'hex') || sha256(decode(k.value ->> 'inner', 'hex')
    || convert_to(jsonb_build_array(template, recipients, cc, bcc, parameters)::text, 'UTF8')))
  from posthaste_private.settings k where k.name = 'fingerprint_key'
$$;
comment on function posthaste_private.fingerprint(text, text[], text[], text[], jsonb) is 'Keyed fingerprint of a request: equal for equal requests, and no way back to their content. Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.fingerprint(text, text[], text[], text[], jsonb) from public;
