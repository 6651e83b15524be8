create or replace function posthaste_private.address_error(mailbox text) returns text
language plpgsql immutable parallel safe
as $$
declare
  v_address text := mailbox;
  v_name text;
  v_at int;
  v_local text;
  v_domain text;
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
  -- These are Unicode's separators, format characters and private use (Z, Cf, Co); spelt out, because classes depend on the locale.
  if v_address ~ ('[\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u202f\u205f-\u206f\u3000\ue000-\uf8ff\ufeff\ufff9-\ufffb'
    || '\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]') then
    return 'it contains an invisible character';
  end if;
  v_at := position('@' in v_address);
  if v_at = 0 then return 'it has no @'; end if;
  v_local := left(v_address, v_at - 1);
  v_domain := substr(v_address, v_at + 1);

  if v_local = '' then return 'nothing stands before the @'; end if;
  if position('@' in v_domain) > 0 then return 'it has more than one @'; end if;
  if octet_length(v_local) > 64 then return 'the part before the @ is longer than 64 octets'; end if;
  if octet_length(v_address) > 254 then return 'it is longer than 254 octets'; end if;
  if v_local !~ '^[-A-Za-z0-9!#$%&''*+/=?^_`{|}~.\u00a1-\uffff\U00010000-\U0010fffd]+$' then
    return 'the part before the @ contains a character that is not allowed there';
  end if;
  if v_local ~ '(^\.|\.\.|\.$)' then return 'the part before the @ begins or ends with a dot, or has two in a row'; end if;

  if v_domain = '' then return 'nothing stands after the @'; end if;
  -- U+3002, U+FF0E and U+FF61 count as dots in domain names (UTS 46): two readings of one address are one too many.
  if v_domain !~ '^[-A-Za-z0-9.\u00a1-\uffff\U00010000-\U0010fffd]+$' or v_domain ~ '[\u3002\uff01-\uff61]' then
    return 'the domain contains a character that is not allowed there';
  end if;
  if position('.' in v_domain) = 0 then return 'the domain has no dot'; end if;
  if v_domain ~ '(^\.|\.\.|\.$|[^.]{64})' then return 'a part of the domain is empty or longer than 63 characters'; end if;
  if v_domain ~ '(^-|\.-|-\.|-$)' then return 'a part of the domain begins or ends with a hyphen'; end if;
  if v_domain ~ '\.[0-9]+$' then return 'the domain ends in a number'; end if;
  return null;
end $$;
comment on function posthaste_private.address_error(text) is 'Why a mailbox cannot be mailed as written, or null. Accepts one user@host or Name <user@host> (RFC 5321 lengths, dot-atom or UTF-8 local part, ASCII or internationalised domain with a dot); no groups, comments, quoted local parts, lists or control characters. Linear in the length, which is capped first. The reason never quotes the address. Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.address_error(text) from public;
