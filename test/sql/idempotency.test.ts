import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import {
  enqueue,
  errorOf,
  type Fields,
  insert,
  jobsOf,
  mail,
  someoneWaits,
  transaction,
  unique,
} from "./mails.ts";
import { listenForJobs } from "./notifications.ts";

const database = await createTestDatabase();
const { pool } = database;
const producer = database.as("posthaste_producer");

/** Two transactions use one key: the second begins while the first is open, and waits until it ends as it is told. */
async function race(end: "commit" | "rollback", begin: string, second: Fields = {}) {
  const idempotency_key = unique("order");
  const [a, b] = await Promise.all([producer.connect(), producer.connect()]);
  try {
    await a.query(begin);
    await b.query(begin);
    await b.query("select 1");
    const first = await enqueue(a, { idempotency_key });
    const attempt = enqueue(b, { idempotency_key, ...second }).then(
      (id) => ({ id, code: null }),
      (error) => ({ id: null, code: error.code as string }),
    );
    await someoneWaits(pool);
    await a.query(end);
    const result = await attempt;
    await b.query(result.id ? "commit" : "rollback");
    const rows = await database.query("select id from posthaste.email_messages where idempotency_key = $1", [
      idempotency_key,
    ]);
    return { first, ...result, rows: rows.map(({ id }) => id) };
  } finally {
    a.release();
    b.release();
  }
}

suite("the same key", () => {
  test("and the same request returns the first id and adds nothing", async () => {
    const request = {
      idempotency_key: unique("order"),
      parameters: { b: 1, a: { y: 1, x: [1, 2] } },
      cc: ["b@x.test"],
    };
    const first = await enqueue(producer, request);
    const jobs = await listenForJobs(pool);
    assert.equal(
      await enqueue(producer, { ...request, parameters: '{"a": {"x":[1,2], "y":1},   "b":1}' }),
      first,
    );
    assert.equal(
      await enqueue(producer, { ...request, recipient: "  ada@shop.example " }),
      first,
      "blanks do not count",
    );
    assert.equal(await jobs.count(), 0);
    await jobs.close();
    assert.equal((await jobsOf(pool, first)).length, 1);
  });

  test("and a request that differs in what does not make it another mail returns the first id", async () => {
    const idempotency_key = unique("order");
    const first = await enqueue(producer, { idempotency_key });
    assert.equal(
      await enqueue(producer, { idempotency_key, priority: 5, reference: "order:1", send_at: "2100-01-01" }),
      first,
    );
  });

  const others: [string, Fields][] = [
    ["template", { template: "order-cancelled" }],
    ["recipient", { recipient: "bob@shop.example" }],
    ["further recipient", { recipients: ["ada@shop.example", "b@x.test"] }],
    ["cc", { cc: ["b@x.test"] }],
    ["bcc", { bcc: ["b@x.test"] }],
    ["parameter", { parameters: { number: 2 } }],
  ];
  for (const [what, fields] of others) {
    test(`and another ${what} raises PH001 and names the first mail, but not its content`, async () => {
      const idempotency_key = unique("order");
      const first = await enqueue(producer, { idempotency_key });
      const error = await errorOf(enqueue(producer, { idempotency_key, ...fields }));
      assert.deepEqual([error.code, error.column], ["PH001", "idempotency_key"]);
      assert.ok(error.message.includes(first));
      assert.ok(!/x\.test|shop\.example/.test(error.message + error.detail));
    });
  }

  test("still tells requests apart when the parameters of the mail are gone", async () => {
    const idempotency_key = unique("code");
    const first = await enqueue(producer, { idempotency_key, parameters: { code: "1234" } });
    await pool.query("update posthaste.email_messages set parameters = '{}' where id = $1", [first]);
    assert.equal(await enqueue(producer, { idempotency_key, parameters: { code: "1234" } }), first);
    assert.equal((await errorOf(enqueue(producer, { idempotency_key, parameters: {} }))).code, "PH001");
  });

  test("of a FAILED mail returns that mail", async () => {
    const request = { idempotency_key: unique("order"), recipient: "nobody" };
    const first = await enqueue(producer, request);
    assert.equal(await enqueue(producer, request), first);
    assert.equal((await mail(pool, first)).status, "FAILED");
  });

  test("in a plain insert raises unique_violation, or adds nothing with `on conflict do nothing`", async () => {
    const idempotency_key = unique("order");
    const first = await insert(producer, { idempotency_key });
    const error = await errorOf(insert(producer, { idempotency_key }));
    assert.deepEqual([error.code, /shop\.example/.test(error.detail)], ["23505", false]);
    assert.equal(await insert(producer, { idempotency_key }, "on conflict do nothing"), undefined);
    assert.equal(await enqueue(producer, { idempotency_key }), first);
  });

  test("twice in one insert adds one mail with `on conflict do nothing`, and raises unique_violation without", async () => {
    const key = unique("order");
    const text = `insert into posthaste.email_messages (template, recipients, idempotency_key)
      select 'news', array['a@x.test'], $1 from generate_series(1, 2)`;
    assert.equal((await errorOf(producer.query(text, [key]))).code, "23505");
    assert.deepEqual(
      await database.query("select from posthaste_private.idempotency_keys where key = $1", [key]),
      [],
    );
    assert.equal((await producer.query(`${text} on conflict do nothing returning id`, [key])).rows.length, 1);
  });

  test("of a deleted mail enqueues nothing: the first id, or no row of a plain insert", async () => {
    const idempotency_key = unique("order");
    const first = await enqueue(producer, { idempotency_key });
    await pool.query("select posthaste.cancel($1)", [first]);
    await pool.query("delete from posthaste.email_messages where id = $1", [first]);
    assert.equal(await enqueue(producer, { idempotency_key }), first);
    assert.equal(await insert(producer, { idempotency_key }), undefined);
    assert.equal((await errorOf(enqueue(producer, { idempotency_key, template: "news" }))).code, "PH001");
    assert.deepEqual(
      await database.query("select from posthaste.email_messages where idempotency_key = $1", [
        idempotency_key,
      ]),
      [],
    );
  });

  test("that has expired begins anew, for any request", async () => {
    const idempotency_key = unique("order");
    const first = await enqueue(producer, { idempotency_key });
    await pool.query("update posthaste_private.idempotency_keys set expires_at = now() where key = $1", [
      idempotency_key,
    ]);
    const second = await enqueue(producer, { idempotency_key, template: "news" });
    assert.notEqual(second, first);
    assert.equal(await enqueue(producer, { idempotency_key, template: "news" }), second);
    assert.equal((await errorOf(enqueue(producer, { idempotency_key }))).code, "PH001");
  });

  test("in one transaction returns the mail that is not committed yet", async () => {
    const idempotency_key = unique("order");
    await transaction(producer, async (client) => {
      assert.equal(await enqueue(client, { idempotency_key }), await enqueue(client, { idempotency_key }));
    });
  });
});

suite("two transactions that use one key at the same time", () => {
  test("end with one mail, and both callers get its id", async () => {
    const { first, id, rows } = await race("commit", "begin");
    assert.deepEqual([id, rows], [first, [first]]);
  });

  test("with different requests end with one mail, and the second caller gets PH001", async () => {
    const { first, code, rows } = await race("commit", "begin", { template: "news" });
    assert.deepEqual([code, rows], ["PH001", [first]]);
  });

  for (const level of ["read committed", "repeatable read", "serializable"]) {
    test(`leave the key to the second when the first rolls back, under ${level}`, async () => {
      const { first, id, rows } = await race("rollback", `begin isolation level ${level}`);
      assert.ok(id && id !== first);
      assert.deepEqual(rows, [id]);
    });
  }

  for (const level of ["repeatable read", "serializable"]) {
    test(`give the second serialization_failure under ${level}, so that the caller repeats its transaction`, async () => {
      const { first, code, rows } = await race("commit", `begin isolation level ${level}`);
      assert.deepEqual([code, rows], ["40001", [first]]);
    });
  }

  test("end with one mail however many they are", async () => {
    const idempotency_key = unique("order");
    const ids = await Promise.all(Array.from({ length: 40 }, () => enqueue(producer, { idempotency_key })));
    assert.equal(new Set(ids).size, 1);
  });
});

test("under repeatable read a key that was committed after the snapshot gives serialization_failure", async () => {
  const idempotency_key = unique("order");
  const error = await errorOf(
    transaction(
      producer,
      async (client) => {
        await client.query("select 1");
        await enqueue(producer, { idempotency_key });
        await enqueue(client, { idempotency_key });
      },
      "begin isolation level repeatable read",
    ),
  );
  assert.equal(error.code, "40001");
});

test("fingerprints do not show the request, and depend on the database's own key", async () => {
  const [row] = await database.query(
    `select posthaste_private.fingerprint('a', '{b}', '{}', '{}', '{}') as keyed,
       sha256(convert_to('["a", ["b"], [], [], {}]', 'UTF8')) as plain`,
  );
  assert.equal(row.keyed.length, 32);
  assert.notDeepEqual(row.keyed, row.plain);
});
