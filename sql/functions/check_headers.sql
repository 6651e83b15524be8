create or replace function posthaste_private.check_headers(headers jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_value jsonb;
begin
  if jsonb_typeof(headers) is distinct from 'object' then
    perform posthaste_private.reject('PH005', 'headers', 'headers must be a JSON object', 'Write {"X-Campaign": "spring"}.');
  end if;
  for v_name, v_value in select key, value from jsonb_each(headers) loop
    if v_name !~* '^(x-[a-z0-9-]{1,70}|list-unsubscribe|list-unsubscribe-post|references|in-reply-to)$' or v_name ~* '^x-posthaste-' then
      perform posthaste_private.reject('PH005', 'headers', 'a header is not on the allow-list',
        'Allowed are X-… (not X-Posthaste-…), List-Unsubscribe, List-Unsubscribe-Post, References and In-Reply-To; the other headers are made from their own columns.');
    end if;
    if jsonb_typeof(v_value) <> 'string' or length(v_value #>> '{}') > 900 or (v_value #>> '{}') ~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029]' then
      perform posthaste_private.reject('PH005', 'headers', format('the value of header %s is not a string of at most 900 characters without control characters', v_name),
        'Remove line breaks and other control characters.');
    end if;
  end loop;
  -- Once they are known to be strings: a number of ten bytes may take 131,072 as text.
  if octet_length(headers::text) > 8192 then
    perform posthaste_private.reject('PH005', 'headers', 'headers may take 8 KiB', 'Write {"X-Campaign": "spring"}.');
  end if;
end $$;
comment on function posthaste_private.check_headers(jsonb) is 'Raises PH005 unless every header is on the allow-list and its value is one line. The value is never quoted.';
revoke all on function posthaste_private.check_headers(jsonb) from public;
