--! roles
grant select on posthaste.email_archive to posthaste_operator;
create policy operator_reads on posthaste.email_archive for select to posthaste_operator using (true);
comment on policy operator_reads on posthaste.email_archive is 'An operator reads all archived mail.';
