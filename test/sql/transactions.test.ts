import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import pg from "pg";
import { createTestDatabase } from "../database.ts";
import { enqueue, insert } from "./mails.ts";

const TRANSACTIONS = Number(process.env.POSTHASTE_TEST_TRANSACTIONS ?? 1000);
const LANES = 4;

type Step = "enqueue" | "insert" | "savepoint" | "rollback to savepoint" | "release" | "mistake";
type End = "commit" | "rollback" | "mistake, then commit" | "terminated" | "connection lost";

const steps = fc.array(
  fc.constantFrom<Step>(
    ...(["enqueue", "enqueue", "insert", "insert"] as const),
    ...(["savepoint", "rollback to savepoint", "release", "mistake"] as const),
  ),
  { minLength: 1, maxLength: 8 },
);
const end = fc.constantFrom<End>(
  ...(["commit", "commit", "commit"] as const),
  ...(["rollback", "mistake, then commit", "terminated", "connection lost"] as const),
);

const database = await createTestDatabase();

test("mail, its job and its key are there exactly when the transaction that enqueued it was committed", async (t) => {
  const seed = Number(process.env.POSTHASTE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const transactions = fc.sample(fc.record({ steps, end }), { numRuns: TRANSACTIONS, seed });
  const committed: string[] = [];
  let enqueued = 0;
  const queue = transactions.entries();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      let client: pg.Client | null = null;
      // Lanes share the iterator: each transaction is one lane's.
      for (const [number, transaction] of queue) {
        client ??= await connect();
        const made = await run(client, `${number}`, transaction);
        enqueued += made.enqueued;
        committed.push(...made.committed);
        if (made.over) client = null;
      }
      await client?.end();
    }),
  );
  t.diagnostic(
    `seed ${seed}: ${TRANSACTIONS} transactions, ${enqueued} mails enqueued, ${committed.length} committed`,
  );
  const found = await database.query(`
    select m.idempotency_key as key, exists (select from graphile_worker.jobs j where j.key = 'posthaste:' || m.id) as job
    from posthaste.email_messages m`);
  committed.sort();
  assert.deepEqual(found.map(({ key }) => key).sort(), committed);
  assert.ok(found.every(({ job }) => job));
  const [{ jobs }] = await database.query("select count(*)::int as jobs from graphile_worker.jobs");
  assert.equal(jobs, committed.length, "no job is left of what was rolled back");
  const keys = await database.query("select key from posthaste_private.idempotency_keys");
  assert.deepEqual(keys.map(({ key }) => key).sort(), committed);
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.connectionString });
  // Some are lost on purpose.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Runs one transaction; the keys of what it committed, and whether its connection is over. */
async function run(
  client: pg.Client,
  name: string,
  { steps, end }: { steps: readonly Step[]; end: End },
): Promise<{ committed: readonly string[]; enqueued: number; over: boolean }> {
  // What each savepoint has above the one below it.
  const levels: string[][] = [[]];
  let enqueued = 0;
  const top = () => levels.at(-1) as string[];
  await client.query("begin");
  for (const step of steps) {
    if (step === "enqueue" || step === "insert") {
      enqueued += 1;
      const idempotency_key = `${name}:${enqueued}`;
      await (step === "enqueue" ? enqueue(client, { idempotency_key }) : insert(client, { idempotency_key }));
      top().push(idempotency_key);
    } else if (step === "savepoint") {
      await client.query("savepoint s");
      levels.push([]);
    } else if (step === "mistake") {
      await client.query("savepoint s");
      await enqueue(client, { idempotency_key: `${name}:mistake` });
      await assert.rejects(client.query("select 1 / 0"));
      await client.query("rollback to savepoint s; release savepoint s");
    } else if (levels.length > 1) {
      const above = levels.pop() as string[];
      if (step === "release") top().push(...above);
      await client.query(
        step === "release" ? "release savepoint s" : "rollback to savepoint s; release savepoint s",
      );
    }
  }
  if (end === "commit" || end === "rollback") {
    await client.query(end);
    return { committed: end === "commit" ? levels.flat() : [], enqueued, over: false };
  }
  if (end === "mistake, then commit") {
    await assert.rejects(client.query("select 1 / 0"));
    await client.query("commit");
    return { committed: [], enqueued, over: false };
  }
  if (end === "terminated")
    await assert.rejects(client.query("select pg_terminate_backend(pg_backend_pid())"));
  else {
    const gone = new Promise<void>((resolve) => void client.once("end", resolve));
    client.connection.stream.destroy();
    await gone;
  }
  return { committed: [], enqueued, over: true };
}
