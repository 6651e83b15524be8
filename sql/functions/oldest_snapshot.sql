create or replace function posthaste_private.oldest_snapshot()
returns table (seconds double precision, transactions bigint, sees_all boolean)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(max(h.seconds), 0), coalesce(max(age(h.xid)), 0)::bigint, pg_has_role(current_user, 'pg_read_all_stats', 'usage')
  from (
    -- A session holds back by its snapshot or by what it has written. Vacuum itself holds back nobody.
    select greatest(0, extract(epoch from clock_timestamp() - a.xact_start))::double precision as seconds, x.xid
    from pg_stat_activity a cross join lateral (values (a.backend_xmin), (a.backend_xid)) x(xid)
    where x.xid is not null and a.pid <> pg_backend_pid() and a.backend_type <> 'autovacuum worker'
      and (a.datname = current_database() or a.datname is null)
    union all
    select extract(epoch from clock_timestamp() - p.prepared)::double precision, p.transaction
    from pg_prepared_xacts p where p.database = current_database()
    union all
    -- A standby that is away keeps its slot's horizon; since when, nobody knows.
    select null, s.xmin from pg_replication_slots s where s.xmin is not null
  ) h
$$;
comment on function posthaste_private.oldest_snapshot() is 'How long the oldest open transaction, prepared transaction or replication slot has kept dead rows of this database from being cleaned up, in seconds and in transactions. `sees_all` is false when the owner may not see other logins'' sessions (pg_read_all_stats).';
revoke all on function posthaste_private.oldest_snapshot() from public;
