create or replace function posthaste_private.erased_text(value text, address text, replacement text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when address ~ '@.*[^\u0001-\u007f]'
    -- Servers know an internationalised domain by its A-labels, which SQL cannot make: any such address goes.
    then regexp_replace(v.text, '[^\s<>"'',;:()\\]+@[^\s<>"'',;:()\\@]*xn--[a-z0-9.-]*[a-z0-9]', erased_text.replacement, 'gi') else v.text end
  from (select regexp_replace(erased_text.value, posthaste_private.address_pattern(erased_text.address), erased_text.replacement, 'gi')) v(text)
$$;
comment on function posthaste_private.erased_text(text, text, text) is 'A text in which an address is replaced wherever it stands.';
revoke all on function posthaste_private.erased_text(text, text, text) from public;
