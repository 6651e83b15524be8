alter table posthaste.email_messages add column secrets_removed_at timestamptz;
comment on column posthaste.email_messages.secrets_removed_at is 'When its secret parameters were removed: with SENT or CANCELLED, or some time after FAILED. Such a mail cannot be retried.';
create index email_messages_secrets on posthaste.email_messages (template, finished_at) where status = 'FAILED' and secrets_removed_at is null;
comment on index posthaste.email_messages_secrets is 'Failures of one template that still have their secret parameters, the oldest first: maintenance removes them.';

create table posthaste_private.template_secrets (
  template text primary key,
  paths text[] not null default '{}'
);
comment on table posthaste_private.template_secrets is 'Which parameters of a template are secret, from all versions that any worker has ever published: a waiting mail may be older than the template. Without a row, no worker has ever known the template.';
comment on column posthaste_private.template_secrets.template is 'Name of the template.';
comment on column posthaste_private.template_secrets.paths is 'Paths into the parameters: code, links.reset. A step through an array means each of its elements.';

alter table posthaste_private.templates add column types jsonb not null default '{}';
comment on column posthaste_private.templates.types is 'JSON types that a top-level parameter may have, where the template says: {"total": ["number", "null"]}.';
