create or replace function posthaste_private.bare_address(mailbox text) returns text
language sql immutable parallel safe
return coalesce(rtrim(substring(mailbox from '<([^<]*)>$')), mailbox);
comment on function posthaste_private.bare_address(text) is 'The address of a mailbox: jane@shop.example of both jane@shop.example and Jane <jane@shop.example>; what is neither stays as it is.';
revoke all on function posthaste_private.bare_address(text) from public;
