create or replace function posthaste_private.backoff(delays jsonb, attempt int) returns interval
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  -- Equal jitter: half of the delay is fixed, half random, so that what failed together does not come back together.
  select case when attempt < 1 then interval '0' else
    coalesce(delays ->> least(attempt, jsonb_array_length(delays)) - 1, '30000')::double precision
      * (0.5 + random() / 2) * interval '1 millisecond' end
$$;
comment on function posthaste_private.backoff(jsonb, int) is 'Pause after this many spent attempts, from a list of milliseconds whose last one repeats, with equal jitter; none for less than one.';
revoke all on function posthaste_private.backoff(jsonb, int) from public;
