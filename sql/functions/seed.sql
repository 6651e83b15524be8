create or replace function posthaste_private.seed() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
  v_inner bytea := decode(repeat('36', 64), 'hex');
  v_outer bytea := decode(repeat('5c', 64), 'hex');
begin
  -- HMAC (RFC 2104) needs the key padded to the block length of SHA-256 and combined with two constants. Both
  -- combinations are made once here, because core PostgreSQL has sha256() but no hmac().
  for i in 0..31 loop
    v_inner := set_byte(v_inner, i, get_byte(v_inner, i) # get_byte(v_key, i));
    v_outer := set_byte(v_outer, i, get_byte(v_outer, i) # get_byte(v_key, i));
  end loop;
  insert into posthaste_private.settings (name, value) values
    ('strict', 'false'),
    ('environment', '"production"'),
    ('installation', to_jsonb(gen_random_uuid())),
    ('fingerprint_key', jsonb_build_object('inner', encode(v_inner, 'hex'), 'outer', encode(v_outer, 'hex')))
  on conflict do nothing;
  insert into posthaste_private.maintenance default values on conflict do nothing;
end $$;
comment on function posthaste_private.seed() is 'Fills in what a new database needs; what is there stays. Called whenever the functions are applied, so that a restored dump of the schema alone works too.';
revoke all on function posthaste_private.seed() from public;

select posthaste_private.seed();
