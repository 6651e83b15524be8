create or replace function posthaste_private.erased(email jsonb, address text, replacement text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_lists jsonb := '{}';
  v_from text := email ->> 'from_address';
begin
  foreach v_key in array array['recipients', 'cc', 'bcc', 'reply_to', 'delivered_to'] loop
    v_lists := v_lists || jsonb_build_object(v_key, coalesce((
      -- The whole mailbox, with the name in it. Places stay: outcomes count in them.
      select jsonb_agg(case when lower(posthaste_private.bare_address(b.mailbox)) = erased.address then erased.replacement
        else posthaste_private.erased_text(b.mailbox, erased.address, erased.replacement) end order by b.position)
      from jsonb_array_elements_text(email -> v_key) with ordinality b(mailbox, position)), '[]'));
  end loop;
  if lower(posthaste_private.bare_address(v_from)) = erased.address then
    v_lists := v_lists || jsonb_build_object('from_address', erased.replacement);
  end if;
  email := posthaste_private.erased_text((email - array['recipients', 'cc', 'bcc', 'reply_to', 'delivered_to'])::text, erased.address, erased.replacement)::jsonb || v_lists;
  -- What was for erased people alone has nobody left whose mail it is.
  if not exists (select from jsonb_array_elements_text(email -> 'recipients' || (email -> 'cc') || (email -> 'bcc')) b(mailbox)
    where posthaste_private.bare_address(b.mailbox) not like '%@erased.invalid') then
    -- And no retry can make mail of it again.
    email := email || '{"parameters": {}, "subject": null, "headers": {}, "attachments": []}'
      || jsonb_build_object('secrets_removed_at', coalesce(email ->> 'secrets_removed_at', now()::text));
  end if;
  return email;
end $$;
comment on function posthaste_private.erased(jsonb, text, text) is 'A mail, as JSON, without an address (in lower case) and the name that stands with it: replaced wherever it stands. Of mail to erased people alone parameters, subject, headers and files go too.';
revoke all on function posthaste_private.erased(jsonb, text, text) from public;
