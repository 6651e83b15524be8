create or replace function posthaste.enqueue_row() returns trigger
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO'
as $$
declare
  v_row jsonb;
  v_argument text;
  v_name text;
  v_value text;
  v_request jsonb := '{}';
  v_key text;
begin
  if tg_when <> 'AFTER' or tg_level <> 'ROW' or tg_op not in ('INSERT', 'UPDATE') then
    perform posthaste_private.reject('PH031', 'trigger', 'enqueue_row is for triggers after insert or update, for each row',
      'Write create trigger … after insert on … for each row execute function posthaste.enqueue_row(…).');
  end if;
  v_row := case when posthaste_private.has_own_types(tg_relid) then posthaste_private.read_row(format('%s', new), tg_relid) else to_jsonb(new) end;
  foreach v_argument in array coalesce(tg_argv, '{}') loop
    v_name := split_part(v_argument, '=', 1);
    v_value := substr(v_argument, length(v_name) + 2);
    case
      when position('=' in v_argument) = 0 or v_value = '' then
        perform posthaste_private.reject('PH031', 'trigger', format('trigger argument %L is not name=value', v_argument), 'Write template=order-confirmed.');
      when v_name in ('priority', 'max_attempts') and v_value !~ '^-?[0-9]{1,4}$' then
        perform posthaste_private.reject('PH031', 'trigger', format('trigger argument %L is not a whole number', v_argument), 'Write priority=10.');
      when v_name in ('template', 'transport', 'priority', 'max_attempts') then
        v_request := v_request || jsonb_build_object(v_name, v_value);
      when v_name in ('key', 'reference', 'owner') then
        v_request := v_request || jsonb_build_object(v_name, posthaste_private.filled(v_value, v_row, tg_relid));
      when v_name = 'parameters' then
        v_request := v_request || jsonb_build_object(v_name, posthaste_private.columns_of(string_to_array(v_value, ','), v_row, tg_relid));
      when v_name in ('recipient', 'recipients', 'cc', 'bcc', 'reply_to', 'from_address', 'locale', 'send_at', 'expires_at') then
        v_request := v_request || jsonb_build_object(v_name, posthaste_private.columns_of(array[v_value], v_row, tg_relid) -> btrim(v_value));
      else
        perform posthaste_private.reject('PH031', 'trigger', format('trigger argument %L is not known', v_name),
          'Known: template, transport, priority, max_attempts (values); key, reference, owner (patterns with {column}); parameters (columns); recipient, recipients, cc, bcc, reply_to, from_address, locale, send_at, expires_at (a column).');
    end case;
  end loop;
  if not v_request ?| array['recipient', 'recipients'] then
    perform posthaste_private.reject('PH031', 'trigger', 'the trigger names no recipient', 'Add recipient=column.');
  end if;

  v_key := v_request ->> 'key';
  if v_key is not null and exists (
    select from posthaste_private.idempotency_keys k where k.key = v_key and (k.expires_at is null or k.expires_at > now())
  ) then
    return null;
  end if;
  -- `on conflict` also covers a key that another transaction takes at this moment: a trigger skips, it never undoes the row.
  insert into posthaste.email_messages (template, recipients, parameters, cc, bcc, reply_to, from_address, locale, transport,
    priority, idempotency_key, reference, owner, send_at, expires_at, max_attempts)
  values (
    v_request ->> 'template',
    -- No address at all is a bad address here: it makes a FAILED row as a record.
    posthaste_private.texts(v_request -> 'recipient') || case
      when cardinality(posthaste_private.texts(v_request -> 'recipient') || posthaste_private.texts(v_request -> 'recipients')) = 0 then array['']
      else posthaste_private.texts(v_request -> 'recipients') end,
    coalesce(v_request -> 'parameters', '{}'),
    posthaste_private.texts(v_request -> 'cc'), posthaste_private.texts(v_request -> 'bcc'), posthaste_private.texts(v_request -> 'reply_to'),
    v_request ->> 'from_address', v_request ->> 'locale', v_request ->> 'transport', (v_request ->> 'priority')::smallint,
    v_key, v_request ->> 'reference', v_request ->> 'owner', (v_request ->> 'send_at')::timestamptz, (v_request ->> 'expires_at')::timestamptz,
    (v_request ->> 'max_attempts')::int)
  on conflict do nothing;
  return null;
end $$;
comment on function posthaste.enqueue_row() is 'Trigger function that enqueues an email about the row: for each row, after insert or update, e.g. posthaste.enqueue_row(''template=order-confirmed'', ''recipient=customer_email'', ''parameters=number,customer_name'', ''key=order-confirmed:{id}'', ''reference=order:{id}''). A known key is skipped; a bad or missing address makes a FAILED row; a wrong argument raises PH031. Runs with the rights of Posthaste, so whoever writes the table needs none.';
revoke all on function posthaste.enqueue_row() from public;
--! roles
grant execute on function posthaste.enqueue_row() to posthaste_producer;
--! end
