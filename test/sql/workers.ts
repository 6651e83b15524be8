import assert from "node:assert/strict";
import pg from "pg";
import type { TestDatabase } from "../database.ts";
import { POLICY } from "./mails.ts";

/** A worker as the database sees it: a connection that holds the lock of its id. */
export async function liveWorker(
  database: TestDatabase,
  id: string,
  published: { transports?: string[]; templates?: object[] } = {},
): Promise<{
  /** Tells its Graphile Worker pool. */
  beat(poolId: string | null): Promise<void>;
  /** Ends its connection, and waits until the server has let its lock go. */
  die(): Promise<void>;
}> {
  const client = new pg.Client({
    connectionString: database.connectionString,
    application_name: `worker ${id}`,
  });
  await client.connect();
  await client.query("select posthaste_private.register_worker($1, 'host', '1', 'default', 8, $2, $3)", [
    id,
    published.transports ?? ["default"],
    JSON.stringify(published.templates ?? []),
  ]);
  return {
    beat: async (poolId) =>
      void (await client.query("select posthaste_private.beat($1, $2, true)", [id, poolId])),
    async die() {
      await client.end();
      const deadline = performance.now() + 10_000;
      for (;;) {
        const held = await database.query(
          "select from pg_stat_activity where datname = current_database() and application_name = $1",
          [`worker ${id}`],
        );
        if (held.length === 0) return;
        assert.ok(performance.now() < deadline, "the connection of the worker ends");
      }
    },
  };
}

/** One run of maintenance. */
export async function maintain(
  database: TestDatabase,
  { batch = 1_000, pause = "0 seconds", policy = POLICY as object } = {},
): Promise<Record<string, number | boolean>> {
  const [row] = await database.query("select posthaste_private.maintain($1, $2, $3) as report", [
    JSON.stringify(policy),
    pause,
    batch,
  ]);
  return row.report;
}
