create or replace function posthaste_private.address_error(mailbox text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_address text := mailbox;
  v_name text;
  v_at int;
  v_local text;
  v_domain text;
  v_labels text[];
begin
  if coalesce(mailbox, '') = '' then return 'it is empty'; end if;
  if length(mailbox) > 500 then return 'it is longer than 500 characters'; end if;
  -- Controls, line and paragraph separators, and the marks that reorder text.
  if mailbox ~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]' then
    return 'it contains a control character';
  end if;

  if right(mailbox, 1) = '>' then
    v_address := substring(mailbox from '<([^<]*)>$');
    if v_address is null then return 'its angle brackets do not match'; end if;
    v_name := btrim(left(mailbox, length(mailbox) - length(v_address) - 2));
    if v_name like '"%' then
      if v_name !~ '^"[^"\\<>]*"$' then return 'its quoted name is not closed, or contains a quote, backslash or angle bracket'; end if;
    elsif v_name ~ '[][()<>@,;:\\"]' then
      return 'its name contains one of ( ) < > [ ] @ , ; : \ " without quotes around it';
    end if;
  end if;

  -- A name may need a joiner (Persian); an address with something invisible in it is not what a person wrote.
  if v_address ~ '[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]' then return 'it contains an invisible character'; end if;
  v_at := position('@' in v_address);
  if v_at = 0 then return 'it has no @'; end if;
  v_local := left(v_address, v_at - 1);
  v_domain := substr(v_address, v_at + 1);

  if v_local = '' then return 'nothing stands before the @'; end if;
  if position('@' in v_domain) > 0 then return 'it has more than one @'; end if;
  if octet_length(v_local) > 64 then return 'the part before the @ is longer than 64 octets'; end if;
  if octet_length(v_address) > 254 then return 'it is longer than 254 octets'; end if;
  if v_local !~ '^[-A-Za-z0-9!#$%&''*+/=?^_`{|}~.\u00a1-\uffff\U00010000-\U0010fffd]+$' or v_local ~ '[[:space:]]' then
    return 'the part before the @ contains a character that is not allowed there';
  end if;
  if v_local ~ '(^\.|\.\.|\.$)' then return 'the part before the @ begins or ends with a dot, or has two in a row'; end if;

  if v_domain = '' then return 'nothing stands after the @'; end if;
  -- U+3002, U+FF0E and U+FF61 count as dots in domain names (UTS 46): two readings of one address are one too many.
  if v_domain !~ '^[-A-Za-z0-9.\u00a1-\uffff\U00010000-\U0010fffd]+$' or v_domain ~ '[[:space:]\u3002\uff01-\uff60\uff61]' then
    return 'the domain contains a character that is not allowed there';
  end if;
  v_labels := string_to_array(v_domain, '.');
  if cardinality(v_labels) < 2 then return 'the domain has no dot'; end if;
  if exists (select from unnest(v_labels) l(label) where length(l.label) not between 1 and 63) then
    return 'a part of the domain is empty or longer than 63 characters';
  end if;
  if exists (select from unnest(v_labels) l(label) where l.label ~ '(^-|-$)') then
    return 'a part of the domain begins or ends with a hyphen';
  end if;
  if v_labels[cardinality(v_labels)] ~ '^[0-9]+$' then return 'the domain ends in a number'; end if;
  return null;
end $$;
comment on function posthaste_private.address_error(text) is 'Why a mailbox cannot be mailed as written, or null. Accepts one user@host or Name <user@host> (RFC 5321 lengths, dot-atom or UTF-8 local part, ASCII or internationalised domain with a dot); no groups, comments, quoted local parts, lists or control characters. Linear in the length, which is capped first. The reason never quotes the address.';
revoke all on function posthaste_private.address_error(text) from public;
