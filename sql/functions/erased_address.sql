create or replace function posthaste_private.erased_address(address text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  -- HMAC-SHA-256 (RFC 2104), half of it. RFC 2606: nothing can be delivered under .invalid.
  select left(encode(sha256(decode(k.value ->> 'outer', 'hex') || sha256(decode(k.value ->> 'inner', 'hex')
    || convert_to('erased:' || erased_address.address, 'UTF8'))), 'hex'), 32) || '@erased.invalid'
  from posthaste_private.settings k where k.name = 'fingerprint_key'
$$;
comment on function posthaste_private.erased_address(text) is 'What stands for an erased address: the same for the same address, so that counts stay, and no way back without the key of this database.';
revoke all on function posthaste_private.erased_address(text) from public;
