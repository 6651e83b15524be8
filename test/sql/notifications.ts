import type pg from "pg";

/** Counts the notifications that tell Graphile Worker of new jobs, on a connection of its own. */
export async function listenForJobs(pool: pg.Pool): Promise<{
  /** How many came since the last call. */
  count(): Promise<number>;
  close(): Promise<void>;
}> {
  const client = await pool.connect();
  let received = 0;
  let sentinel = () => {};
  client.on("notification", ({ payload }) => {
    if (payload === "sentinel") sentinel();
    else received += 1;
  });
  await client.query('listen "jobs:insert"');
  return {
    async count() {
      // Notifications come in the order of the commits: after this one there are no earlier ones to wait for.
      const arrived = new Promise<void>((resolve) => {
        sentinel = resolve;
      });
      await pool.query("select pg_notify('jobs:insert', 'sentinel')");
      await arrived;
      const count = received;
      received = 0;
      return count;
    },
    async close() {
      await client.query("unlisten *");
      client.release();
    },
  };
}
