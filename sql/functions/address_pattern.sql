create or replace function posthaste_private.address_pattern(address text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select
    -- Not the end of a longer address. The escapes of JSON (\n, \u0001) end in a letter or digit that is not part of it.
    '(?:(?<![[:alnum:]._+-])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{4}))'
    -- As it is, or percent-encoded as in a link.
    || replace(regexp_replace(l.part, '([!-/:-@[-`{-~])', '\\\1', 'g'), '\+', '(?:\+|%2b)')
    || '(?:@|%40)' || regexp_replace(d.part, '([!-/:-@[-`{-~])', '\\\1', 'g')
    -- Nor the beginning of one; the ending of a file's name is no part of it.
    || '(?![[:alnum:]-]|\.(?!(?:pdf|csv|txt|html?|xml|json|ics|vcf|eml|png|jpe?g|docx?|xlsx?)(?![[:alnum:]]))[[:alnum:]])'
  from (values (regexp_replace(address, '@[^@]*$', ''))) l(part), (values (substring(address from '[^@]*$'))) d(part)
$$;
comment on function posthaste_private.address_pattern(text) is 'A regular expression (to be used with the flag i) that finds an address in a text, and no longer one that contains it.';
revoke all on function posthaste_private.address_pattern(text) from public;
