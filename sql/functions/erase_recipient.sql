create or replace function posthaste.erase_recipient(address text, dry_run boolean default false, max int default 10000)
returns table (waiting int, cancelled int, ended int, archived int, in_flight int, files int, elsewhere int, more boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_address text := lower(btrim(posthaste_private.bare_address(btrim(erase_recipient.address))));
  v_hash text;
  v_ids uuid[];
  v_archived uuid[];
begin
  if coalesce(v_address, '') !~ '^[^[:space:]@]+@[^[:space:]@]+$' or length(v_address) > 320 or v_address like '%@erased.invalid' then
    perform posthaste_private.reject('PH007', 'address', 'address must be one address, user@host', 'Give it as it is stored; upper and lower case are the same.');
  end if;
  v_hash := posthaste_private.erased_address(v_address);

  -- Wherever it stands, not only where it is a recipient: in answers, senders, parameters. This reads all mail.
  select coalesce(array_agg(f.id) filter (where f.place <= erase_recipient.max), '{}'), count(*) > erase_recipient.max into v_ids, more
  from (select m.id, row_number() over (order by m.status = 'SENDING', m.id) as place from posthaste_private.mail_with(v_address) m) f;
  select coalesce(array_agg(f.id) filter (where f.place <= erase_recipient.max), '{}'), more or count(*) > erase_recipient.max into v_archived, more
  from (select a.id, row_number() over (order by a.id) as place from posthaste_private.archive_with(v_address) a(id)) f;

  if not dry_run then
    perform from posthaste.email_messages m where m.id = any (v_ids) order by m.id for update;
  end if;
  -- Nobody can take back what a worker is saying at this moment.
  select count(*) filter (where m.status = 'PENDING'), count(*) filter (where m.status in ('SENT', 'FAILED', 'CANCELLED')),
    count(*) filter (where m.status = 'SENDING'), coalesce(array_agg(m.id) filter (where m.status <> 'SENDING'), '{}'),
    -- What a purge has moved to the archive in the meantime is found there by the next run.
    more or count(*) < cardinality(v_ids)
  into waiting, ended, in_flight, v_ids, more from posthaste.email_messages m where m.id = any (v_ids);
  archived := cardinality(v_archived);
  cancelled := 0;
  files := 0;
  elsewhere := 0;
  if dry_run then
    return next;
    return;
  end if;

  cancelled := posthaste_private.erase_waiting(v_ids, v_address, v_hash);
  files := posthaste_private.erase_ended(v_ids, v_archived, v_address, v_hash);
  elsewhere := posthaste_private.erase_elsewhere(v_ids, v_address, v_hash);
  waiting := waiting - cancelled;
  if files > 0 then
    perform posthaste_private.request_purge('0');
  end if;
  perform posthaste_private.record_action('erase_recipient', emails => waiting + cancelled + ended + archived,
    outcomes => jsonb_build_object('waiting', waiting, 'cancelled', cancelled, 'ended', ended, 'archived', archived, 'in_flight', in_flight));
  return next;
end $$;
comment on function posthaste.erase_recipient(text, boolean, int) is 'Erases a person from mail, archive, attempts and records, at most `max` mails in one call, and counts: waiting mail that goes on without the person, cancelled mail that had nobody else, ended and archived mail, mail that is being sent and is left as it is, owned files that will be deleted, and other records. Run it again while `more` is true or in_flight is not 0; nothing is done twice. The address, whatever its case, becomes a keyed hash at erased.invalid; parameters, subject and files of mail to that person alone go. With dry_run it only counts. Raises PH007 for what is not an address.';
revoke all on function posthaste.erase_recipient(text, boolean, int) from public;
--! roles
grant execute on function posthaste.erase_recipient(text, boolean, int) to posthaste_operator;
--! end
