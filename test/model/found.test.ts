import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase, type TestDatabase } from "../database.ts";
import { claimed, enqueue, mail, record, someoneWaits, transaction, unique } from "../sql/mails.ts";
import { liveWorker, maintain } from "../sql/workers.ts";

// What the model found, and what its authors found while they wrote it down, each as small as it can be.

const database = await createTestDatabase();
const { pool } = database;

/** Ended mail with a key each, old enough to be purged. */
async function oldMails(keys: readonly string[]): Promise<void> {
  for (const idempotency_key of keys) {
    const id = await enqueue(pool, { idempotency_key });
    await pool.query("select posthaste.cancel($1)", [id]);
    await pool.query(
      "update posthaste.email_messages set created_at = now() - interval '9 days', finished_at = now() - interval '9 days' where id = $1",
      [id],
    );
  }
}

/** Statements that rather fail than wait for a lock for long. */
async function impatiently<T>(work: (query: TestDatabase["query"]) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("set lock_timeout = '3s'");
    return await work(async (text, values) => (await client.query(text, values as unknown[])).rows);
  } finally {
    client.release(true);
  }
}

async function purge(query = database.query): Promise<number> {
  const [row] = await query(
    "select removed from posthaste_private.purge('CANCELLED', '1 day', false, '1 day', '-infinity', '00000000-0000-0000-0000-000000000000', 100)",
  );
  return row.removed;
}

suite("a purge and a producer with known keys", () => {
  test("do not wait for each other in a ring: the mails whose keys it holds stay", async () => {
    const keys = [unique("a"), unique("b"), unique("c")].sort() as [string, string, string];
    await oldMails(keys);
    await transaction(pool, async (client) => {
      await enqueue(client, { idempotency_key: keys[0] });
      assert.equal(await impatiently((query) => purge(query)), 2);
      // Its mail was purged a moment ago; the key is still known, so nothing is added.
      await enqueue(client, { idempotency_key: keys[1] });
    });
    assert.equal(await purge(), 1);
    const again = await Promise.all(keys.map((idempotency_key) => enqueue(pool, { idempotency_key })));
    assert.deepEqual(
      await database.query("select id from posthaste.email_messages where id = any ($1)", [again]),
      [],
    );
  });

  test("that comes second hears of the purge, and adds nothing", async () => {
    const key = unique("d");
    await oldMails([key]);
    const told = await transaction(pool, async (client) => {
      assert.equal(await purge(async (text) => (await client.query(text)).rows), 1);
      const answer = enqueue(pool, { idempotency_key: key });
      await someoneWaits(pool);
      return { answer };
    });
    const id = await told.answer;
    assert.deepEqual(await database.query("select from posthaste.email_messages where id = $1", [id]), []);
  });
});

test("maintenance waits for nobody who holds failed mail whose secrets are due", async () => {
  await pool.query(
    "insert into posthaste_private.template_secrets (template, paths) values ('vault', '{code}')",
  );
  const failed = await claimed(pool, { template: "vault", parameters: { code: "1" } });
  await record(pool, failed, { kind: "failed", error_code: "render_failed" });
  await pool.query(
    "update posthaste.email_messages set finished_at = now() - interval '2 days' where id = $1",
    [failed.id],
  );
  const crashed = await claimed(pool);
  await pool.query("update posthaste.email_messages set locked_until = now() where id = $1", [crashed.id]);
  await transaction(pool, async (client) => {
    await client.query("select posthaste.retry($1)", [failed.id]);
    const report = await impatiently((query) => maintain({ ...database, query }));
    assert.deepEqual([report.ran, report.crashed], [true, 1]);
  });
  assert.equal((await mail(pool, failed.id)).status, "PENDING");
});

suite("when the clock is set back by an hour", () => {
  test("maintenance runs without waiting until it has caught up", async () => {
    await maintain(database);
    await pool.query("update posthaste_private.maintenance set ran_at = now() + interval '1 hour'");
    assert.equal((await maintain(database, { pause: "15 seconds" })).ran, true);
    assert.equal((await maintain(database, { pause: "15 seconds" })).ran, false);
  });

  test("a failure opens the breaker, and an open one is probed", async () => {
    const worker = await liveWorker(database, "w1", { transports: ["clocked"] });
    const set = (what: string) =>
      pool.query(
        `update posthaste_private.transports set ${what} = now() + interval '1 hour' where name = 'clocked'`,
      );
    await set("since");
    const [{ state }] = await database.query(
      `select posthaste_private.report_transport('clocked', 'open', now(), 'transport_misconfigured', '535', '{"failures": 3, "probe": 5000, "max_probe": 60000}') as state`,
    );
    assert.equal(state, "open");
    await set("next_probe_at");
    const probes = () =>
      database.query("select name from posthaste_private.take_probes('{clocked}', '2 minutes')");
    assert.deepEqual(await probes(), [{ name: "clocked" }]);
    assert.deepEqual(await probes(), []);
    await worker.die();
  });
});

test("workers that start together, with the same transports in another order, do not wait in a ring", async () => {
  for (let round = 0; round < 10; round++) {
    const names = [`a${round}`, `b${round}`];
    const client = await pool.connect();
    await client.query("begin");
    await client.query("insert into posthaste_private.transports (name) values ($1)", [names[1]]);
    const starting = [
      liveWorker(database, "first", { transports: names }),
      liveWorker(database, "second", { transports: names.toReversed() }),
    ];
    await someoneWaits(pool, 2);
    await client.query("rollback");
    client.release();
    for (const worker of await Promise.all(starting)) await worker.die();
  }
});
