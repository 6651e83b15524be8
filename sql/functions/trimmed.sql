create or replace function posthaste_private.trimmed(mailboxes text[]) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  v_mailbox text;
  v_result text[] := '{}';
begin
  foreach v_mailbox in array coalesce(mailboxes, '{}') loop
    v_result := v_result || left(btrim(coalesce(v_mailbox, '')), 501);
  end loop;
  return v_result;
end $$;
comment on function posthaste_private.trimmed(text[]) is 'Mailboxes without blanks around them; null becomes empty; what is longer than any valid mailbox is cut, so that a refused one cannot fill the table. Without a search_path of its own, which costs more than the function does; callers pin theirs.';
revoke all on function posthaste_private.trimmed(text[]) from public;
