import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import {
  claimed,
  enqueue,
  errorOf,
  insert,
  jobsOf,
  later,
  mail,
  record,
  transaction,
  unique,
} from "./mails.ts";
import { liveWorker } from "./workers.ts";

const database = await createTestDatabase();
const { pool } = database;
const producer = database.as("posthaste_producer");
const operator = database.as("posthaste_operator");

async function stats() {
  return (await operator.query("select * from posthaste.queue_stats()")).rows[0];
}

suite("email_status", () => {
  const status = async (key: string | null, reference: string | null = null) =>
    (await producer.query("select * from posthaste.email_status($1, $2)", [key, reference])).rows;

  test("tells a producer of the mail of a key, without address or content", async () => {
    const idempotency_key = unique("order");
    const id = await enqueue(producer, { idempotency_key, recipient: "nobody" });
    const [row] = await status(idempotency_key);
    assert.deepEqual(Object.keys(row), ["id", "template", "status", "created_at", "sent_at", "error_code"]);
    assert.deepEqual(
      [row.id, row.status, row.error_code, row.sent_at],
      [id, "FAILED", "recipient_invalid", null],
    );
  });

  test("tells of all mail of a reference, newest first, and of what has both", async () => {
    const reference = unique("order");
    const idempotency_key = unique("order");
    const first = await enqueue(producer, { reference, idempotency_key });
    await pool.query(
      "do $$ begin while clock_timestamp() < now() + interval '2 ms' loop null; end loop; end $$",
    );
    const second = await enqueue(producer, { reference });
    assert.deepEqual(
      (await status(null, reference)).map(({ id }) => id),
      [second, first],
    );
    assert.deepEqual(
      (await status(idempotency_key, reference)).map(({ id }) => id),
      [first],
    );
    assert.deepEqual(await status(idempotency_key, "another"), []);
  });

  test("has no row for what is not known, and refuses to tell of everything", async () => {
    assert.deepEqual(await status("unknown"), []);
    assert.equal((await errorOf(status(null))).code, "PH007");
  });
});

suite("a paused transport", () => {
  test("is in the statistics with reason and operator, its mail waits, and after resume sends in growing numbers", async () => {
    await operator.query("select posthaste.pause('bulk', 'quota is used up')");
    const id = await enqueue(producer, { transport: "bulk" });
    assert.deepEqual(await jobsOf(pool, id), []);
    const [transport] = (await stats()).transports;
    assert.deepEqual(
      [transport.name, transport.state, transport.reason, transport.paused_by],
      ["bulk", "paused", "quota is used up", "postgres"],
    );
    await operator.query("select posthaste.pause('bulk', 'still')");
    assert.equal((await stats()).transports[0].since, transport.since, "a second pause keeps the time");

    await operator.query("select posthaste.resume('bulk')");
    assert.equal((await stats()).transports[0].state, "closed");
    const [{ allowance }] = await database.query(
      "select allowance from posthaste_private.transports where name = 'bulk'",
    );
    assert.equal(allowance, 20);
  });

  test("cannot be resumed twice, nor paused under a name that no transport can have", async () => {
    assert.equal((await errorOf(operator.query("select posthaste.resume('bulk')"))).code, "PH021");
    assert.equal((await errorOf(operator.query("select posthaste.resume('unknown')"))).code, "PH021");
    for (const name of ["", "Bulk", null]) {
      assert.equal((await errorOf(operator.query("select posthaste.pause($1, 'x')", [name]))).code, "PH007");
    }
  });

  test("is one that a worker has had, once one has run", async () => {
    const worker = await liveWorker(database, "with-two", { transports: ["default", "second"] });
    await worker.die();
    const error = await errorOf(operator.query("select posthaste.pause('secnod', 'x')"));
    assert.deepEqual([error.code, error.column], ["PH007", "transport"]);
    assert.match(error.hint ?? "", /^Known: .*\bsecond\b/);
    assert.deepEqual(
      (await stats()).transports.filter(({ name }: { name: string }) => name === "secnod"),
      [],
    );
    await operator.query("select posthaste.pause('second', 'x')");
    await operator.query("select posthaste.resume('second')");
  });

  test("does not end what is being sent", async () => {
    const lease = await claimed(pool, { transport: "second" });
    await operator.query("select posthaste.pause('second', 'x')");
    await record(pool, lease, { kind: "sent", accepted: [1] });
    assert.equal((await mail(pool, lease.id)).status, "SENT");
  });
});

test("queue_stats counts what there is", async () => {
  await pool.query("truncate posthaste.email_messages cascade");
  const old = await enqueue(pool);
  await enqueue(pool, { send_at: new Date(Date.now() + 3_600_000) });
  await enqueue(pool, { recipient: "nobody" });
  await operator.query("select posthaste.cancel($1)", [await enqueue(pool)]);
  await record(pool, await claimed(pool), { kind: "sent", accepted: [1] });
  await record(pool, await claimed(pool), later());
  const lost = await claimed(pool);
  await pool.query(
    "update posthaste.email_messages set locked_until = now() - interval '1 s' where id = $1",
    [lost.id],
  );
  const { transports, listening_workers, ...row } = await stats();
  assert.deepEqual(
    { ...row, oldest_due_at: row.oldest_due_at.getTime() },
    {
      pending: "3",
      sending: "1",
      sent: "1",
      failed: "1",
      cancelled: "1",
      ended_are_estimates: false,
      due: "1",
      expired_leases: "1",
      live_workers: "0",
      environment: "production",
      oldest_due_at: (await mail(pool, old)).next_attempt_at.getTime(),
    },
  );
});

test("a worker that has just started counts as listening until it had the time to hear itself", async () => {
  const worker = await liveWorker(database, "fresh");
  const counted = async () => [(await stats()).live_workers, (await stats()).listening_workers];
  const fresh = await counted();
  await pool.query("update posthaste_private.workers set started_at = started_at - interval '10 seconds'");
  const silent = await counted();
  await worker.beat(null);
  const heard = await counted();
  await worker.die();
  assert.deepEqual(
    [fresh, silent, heard],
    [
      ["1", "1"],
      ["1", "0"],
      ["1", "1"],
    ],
  );
});

suite("configure", () => {
  test("is for the owner alone", async () => {
    for (const role of [producer, operator]) {
      assert.equal((await errorOf(role.query("select posthaste.configure('strict', 'true')"))).code, "42501");
    }
  });

  const wrong: [string | null, string | null][] = [
    ["strict", '"on"'],
    ["strict", "null"],
    ["strict", null],
    ["environment", '"two words"'],
    ["environment", "true"],
    ["fingerprint_key", '"x"'],
    ["installation", '"x"'],
    ["Strict", "true"],
    [null, "true"],
  ];
  for (const [name, value] of wrong) {
    test(`refuses ${name} = ${value}: PH030`, async () => {
      const before = await database.query("select * from posthaste_private.settings order by 1");
      assert.equal(
        (await errorOf(pool.query("select posthaste.configure($1, $2)", [name, value]))).code,
        "PH030",
      );
      assert.deepEqual(await database.query("select * from posthaste_private.settings order by 1"), before);
    });
  }

  test("sets the environment, and workers of another one claim nothing", async (t) => {
    t.after(async () => void (await pool.query(`select posthaste.configure('environment', '"production"')`)));
    await pool.query(`select posthaste.configure('environment', '"staging"')`);
    assert.equal((await stats()).environment, "staging");
    const claim = "select from posthaste_private.claim(array[$1::uuid], 'w1', '60 s', $2, 'x.test')";
    const id = await enqueue(pool);
    assert.deepEqual(
      [
        (await pool.query(claim, [id, "production"])).rowCount,
        (await pool.query(claim, [id, "staging"])).rowCount,
      ],
      [0, 1],
    );
  });
});

suite("strict", () => {
  const sessions = database.as("posthaste_producer", { "posthaste.strict": "on" });

  test("raises for unknown templates and missing parameters, as the workers have published them", async () => {
    await pool.query(
      `insert into posthaste_private.workers (id, host, version) values ('old', 'h', '1'), ('new', 'h', '2')`,
    );
    await pool.query(`insert into posthaste_private.templates (worker_id, name, version, required) values
      ('old', 'receipt', '1', '{number,total}'), ('new', 'receipt', '2', '{number}'), ('new', 'plain', '1', '{}')`);
    const unknown = await errorOf(enqueue(sessions, { template: "reciept" }));
    assert.deepEqual([unknown.code, unknown.column], ["PH011", "template"]);
    const missing = await errorOf(enqueue(sessions, { template: "receipt", parameters: { total: 1 } }));
    assert.deepEqual([missing.code, missing.column], ["PH012", "parameters"]);
    assert.match(missing.message, /number/);
    await enqueue(sessions, { template: "receipt", parameters: { number: 1 } });
    await enqueue(sessions, { template: "plain" });
    assert.equal(
      (await errorOf(insert(sessions, { template: "reciept" }))).code,
      "PH011",
      "by a plain insert too",
    );
    await enqueue(producer, { template: "reciept" });
  });

  for (const [word, strict] of Object.entries({
    on: true,
    TRUE: true,
    yes: true,
    "1": true,
    off: false,
    "": false,
  })) {
    test(`is ${strict ? "on" : "off"} in a session that sets it to ${JSON.stringify(word)}`, async () => {
      await transaction(producer, async (client) => {
        await client.query("select set_config('posthaste.strict', $1, true)", [word]);
        const result = await enqueue(client, { template: "plain", recipient: "nobody" }).catch(
          ({ code }) => code,
        );
        assert.equal(result === "PH010", strict);
        await client.query("rollback");
      });
    });
  }

  test("is neither on nor off in a session that sets it to another word, which is an error at the call", async () => {
    await transaction(producer, async (client) => {
      await client.query("set local posthaste.strict = maybe");
      const { code, message } = await errorOf(enqueue(client, { template: "plain" }));
      assert.deepEqual(
        [code, message],
        ["PH030", "the setting posthaste.strict must be on or off; it is 'maybe'"],
      );
      await client.query("rollback");
    });
  });

  test("as a setting of the database holds for all sessions", async (t) => {
    t.after(async () => void (await pool.query("select posthaste.configure('strict', 'false')")));
    await pool.query("select posthaste.configure('strict', 'true')");
    assert.equal(
      (await errorOf(enqueue(producer, { template: "plain", recipient: "nobody" }))).code,
      "PH010",
    );
  });
});
