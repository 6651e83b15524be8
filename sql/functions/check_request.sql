create or replace function posthaste_private.check_request(request posthaste.email_messages) returns void
language plpgsql stable
as $$
declare
  v_field text;
  v_value text;
  v_size int;
begin
  if coalesce(request.template, '') !~ '^[A-Za-z0-9][A-Za-z0-9_-]*(/[A-Za-z0-9][A-Za-z0-9_-]*)*$' or length(request.template) > 200 then
    perform posthaste_private.reject('PH003', 'template', format('template must be the path of a file in emails/ without its ending, not %s', quote_nullable(left(request.template, 80))),
      'Write letters, digits, hyphens and underscores, with / between folders: order-confirmed, billing/invoice.');
  end if;
  if cardinality(request.recipients) = 0 then
    perform posthaste_private.reject('PH002', 'recipients', 'a mail needs at least one recipient, and none was given',
      'Give recipient or recipients. If the address may be missing, leave out the call, or pass an empty string to have a FAILED row as a record.');
  end if;
  if cardinality(request.recipients) + cardinality(request.cc) + cardinality(request.bcc) > 50 or cardinality(request.reply_to) > 10 then
    perform posthaste_private.reject('PH009', 'recipients', format('a mail may have 50 recipients (with cc and bcc) and 10 reply_to addresses, not %s and %s',
      cardinality(request.recipients) + cardinality(request.cc) + cardinality(request.bcc), cardinality(request.reply_to)),
      'Enqueue one mail for each person: one insert … select does it in one statement.');
  end if;

  if jsonb_typeof(request.parameters) <> 'object' then
    perform posthaste_private.reject('PH004', 'parameters', format('parameters must be a JSON object, not %s', jsonb_typeof(request.parameters)),
      'Use jsonb_build_object(''name'', value, …).');
  end if;
  -- Before they are written out: 1e131071 takes ten bytes as it is kept, and 131,072 as text.
  if jsonb_path_exists(request.parameters, '$.** ? (@.type() == "number" && (@.abs() > 1e308 || @ != 0 && @.abs() < 1e-308))') then
    perform posthaste_private.reject('PH004', 'parameters', 'a number in parameters must be 0 or between 1e-308 and 1e308 in size, as a JavaScript number is',
      'Pass longer numbers as strings.');
  end if;
  v_size := octet_length(request.parameters::text);
  if v_size > 65536 then
    perform posthaste_private.reject('PH004', 'parameters', format('parameters may take 65536 bytes as text, not %s', v_size),
      'Pass what the template shows, and leave large content to a link or an attachment.');
  end if;
  if jsonb_path_exists(request.parameters, '$.**{11 to last}') or jsonb_path_exists(request.parameters, '$.**."__proto__"') then
    perform posthaste_private.reject('PH004', 'parameters', 'parameters may be nested 10 levels deep and must not have a key "__proto__"',
      'Flatten the parameters.');
  end if;
  if request.headers <> '{}' then
    perform posthaste_private.check_headers(request.headers);
  end if;
  if request.attachments <> '[]' then
    perform posthaste_private.check_attachments(request.attachments);
  end if;

  if request.from_address is not null and posthaste_private.address_error(btrim(request.from_address)) is not null then
    perform posthaste_private.reject('PH007', 'from_address', 'from_address cannot be used: ' || posthaste_private.address_error(btrim(request.from_address)),
      'Write user@host or Name <user@host>.');
  end if;
  if request.locale !~ '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,5}$' then
    perform posthaste_private.reject('PH007', 'locale', format('locale must be a BCP 47 tag, not %L', left(request.locale, 40)), 'Write de, de-CH or zh-Hant-TW.');
  end if;
  if request.transport !~ '^[a-z][a-z0-9_-]{0,62}$' then
    perform posthaste_private.reject('PH007', 'transport', format('transport must be the name of a configured transport, not %L', left(request.transport, 70)),
      'Use the name under posthaste.transports in the configuration.');
  end if;
  foreach v_field in array array['idempotency_key', 'reference', 'owner'] loop
    v_value := case v_field when 'owner' then request.owner when 'reference' then request.reference else request.idempotency_key end;
    if v_value is not null and (v_value = '' or octet_length(v_value) > 255 or v_value ~ '[\u0001-\u001f\u007f]') then
      perform posthaste_private.reject('PH007', v_field, format('%s must be 1 to 255 bytes without control characters', v_field), 'Write something like order:42, or null.');
    end if;
  end loop;
  if request.max_attempts not between 1 and 100 then
    perform posthaste_private.reject('PH007', 'max_attempts', format('max_attempts must be 1 to 100, not %s', request.max_attempts), 'Leave it out for the configured number.');
  end if;
  if not isfinite(request.send_at) or not isfinite(request.expires_at) then
    perform posthaste_private.reject('PH008', 'send_at', 'send_at and expires_at must be finite', 'Use null for no limit.');
  end if;
  if request.expires_at <= greatest(request.send_at, now()) then
    perform posthaste_private.reject('PH008', 'expires_at', format('expires_at (%s) must be later than send_at (%s) and than now', request.expires_at, request.send_at),
      'Correct the times, or leave expires_at out.');
  end if;
end $$;
comment on function posthaste_private.check_request(posthaste.email_messages) is 'Raises an error of the PH class, naming the field, for a call that is malformed. Bad recipients are not its business. Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.check_request(posthaste.email_messages) from public;
