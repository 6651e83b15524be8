create or replace function posthaste_private.trimmed(mailboxes text[]) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(left(btrim(coalesce(m.mailbox, '')), 501) order by m.position), '{}')
  from unnest(mailboxes) with ordinality m(mailbox, position)
$$;
comment on function posthaste_private.trimmed(text[]) is 'Mailboxes without blanks around them; null becomes empty; what is longer than any valid mailbox is cut, so that a refused one cannot fill the table.';
revoke all on function posthaste_private.trimmed(text[]) from public;
