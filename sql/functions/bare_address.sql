create or replace function posthaste_private.bare_address(mailbox text) returns text
language sql immutable parallel safe
return case when right(mailbox, 1) = '>' then rtrim(substring(mailbox from '<([^<]*)>$')) else mailbox end;
comment on function posthaste_private.bare_address(text) is 'The address of a mailbox: jane@shop.example of both jane@shop.example and Jane <jane@shop.example>.';
revoke all on function posthaste_private.bare_address(text) from public;
