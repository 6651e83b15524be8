create or replace function posthaste_private.worker_lock(worker text) returns bigint
language sql immutable
return hashtextextended('posthaste:worker:' || worker, 0);
comment on function posthaste_private.worker_lock(text) is 'Key of the advisory lock that a worker process holds while it lives.';
revoke all on function posthaste_private.worker_lock(text) from public;
