import type pg from "pg";
import { GROUP } from "./load-claims.ts";
import { passThrough, storeOf } from "./sql-steps.ts";

/** What is left of many mails in the tables. */
export interface Storage {
  readonly mails: number;
  readonly perSecond: number;
  /** Share of updates that touched no index. */
  readonly hot: number;
  /** Dead rows of email_messages at the worst, and in the end. */
  readonly mostDead: number;
  readonly dead: number;
  /** Octets. */
  readonly table: number;
  readonly indexes: number;
  readonly walPerMail: number;
  readonly vacuums: number;
}

/** Clients that pass mail through at the same time. */
const CLIENTS = 4;

/** Takes so many mails through all steps, in groups. Autovacuum does what it is set to do. */
export async function measureStorage(pool: pg.Pool, mails: number): Promise<Storage> {
  const store = storeOf(pool);
  const [{ lsn }] = (await pool.query("select pg_current_wal_lsn() as lsn")).rows;
  let next = 1;
  let mostDead = 0;
  const watching = setInterval(async () => {
    mostDead = Math.max(mostDead, (await statistics(pool)).dead);
  }, 1_000);
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next <= mails) {
        const first = next;
        next += GROUP;
        await passThrough(pool, store, first, GROUP);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watching);
  const [{ wal }] = (
    await pool.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), $1)::float8 as wal", [lsn])
  ).rows;
  // Sessions hand in their counts when they have been idle for a while; one can be asked for at once only of itself.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { dead, hot, vacuums, table, indexes } = await statistics(pool);
  return {
    mails,
    perSecond: mails / seconds,
    hot,
    mostDead: Math.max(mostDead, dead),
    dead,
    table,
    indexes,
    walPerMail: wal / mails,
    vacuums,
  };
}

async function statistics(pool: pg.Pool) {
  const { rows } = await pool.query(
    `select n_dead_tup::int as dead, n_tup_hot_upd::float8 / greatest(n_tup_upd, 1) as hot, autovacuum_count::int as vacuums,
       pg_table_size(relid)::float8 as table, pg_indexes_size(relid)::float8 as indexes
     from pg_stat_user_tables where relid = 'posthaste.email_messages'::regclass`,
  );
  return rows[0] as { dead: number; hot: number; vacuums: number; table: number; indexes: number };
}
