--! roles
-- All but the content: an operator sees which file a mail carries, not what a customer's invoice says.
grant select (id, name, content_type, size, checksum, created_at) on posthaste.files to posthaste_operator;
create policy operator_reads on posthaste.files for select to posthaste_operator using (true);
comment on policy operator_reads on posthaste.files is 'An operator sees which files there are.';
