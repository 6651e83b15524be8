create or replace function posthaste.new_id() returns uuid
language sql volatile parallel safe
as $$
  -- RFC 9562 5.7: 48 bits of milliseconds over a random UUID version 4, then version 7 in the four bits that said 4.
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid()) placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;
comment on function posthaste.new_id() is 'A UUID version 7: random, and rising with time to the millisecond. PostgreSQL before 18 has none of its own. Without a search_path of its own, so that it can be inlined; callers pin theirs.';
revoke all on function posthaste.new_id() from public;
