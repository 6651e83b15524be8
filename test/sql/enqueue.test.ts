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
  type Queryable,
  transaction,
  unique,
} from "./mails.ts";
import { listenForJobs } from "./notifications.ts";

const database = await createTestDatabase();
const { pool } = database;

/** Everything that a mail leaves behind. */
async function traces(id: string, key: string) {
  const [counts] = await database.query(
    `select (select count(*)::int from posthaste.email_messages where id = $1) as rows,
       (select count(*)::int from graphile_worker.jobs where key = 'posthaste:' || $1) as jobs,
       (select count(*)::int from posthaste_private.recipient_index where email_id = $1) as addresses,
       (select count(*)::int from posthaste_private.idempotency_keys where key = $2) as keys`,
    [id, key],
  );
  return counts;
}

const ways: [string, (on: Queryable, fields?: Fields) => Promise<string | undefined>][] = [
  ["posthaste.enqueue()", enqueue],
  ["a plain insert", insert],
];

for (const [way, add] of ways) {
  suite(`a mail enqueued by ${way}`, () => {
    test("is a row, a job, a key and an address in the caller's transaction, with one notification at its commit", async () => {
      const jobs = await listenForJobs(pool);
      const key = unique("order");
      const id = await transaction(pool, async (client) => {
        const id = await add(client, { idempotency_key: key });
        assert.ok(id);
        assert.equal((await jobsOf(client, id)).length, 1, "the transaction sees its job");
        assert.deepEqual(await traces(id, key), { rows: 0, jobs: 0, addresses: 0, keys: 0 });
        assert.equal(await jobs.count(), 0);
        return id;
      });
      assert.deepEqual(await traces(id, key), { rows: 1, jobs: 1, addresses: 1, keys: 1 });
      assert.equal(await jobs.count(), 1);
      await jobs.close();
      const [job] = await jobsOf(pool, id);
      const [{ payload }] = await database.query(
        "select payload from graphile_worker._private_jobs where key = $1",
        [job.key],
      );
      assert.deepEqual(
        [job.task_identifier, job.queue_name, payload],
        ["posthaste/send_email", null, { id }],
      );
    });

    test("leaves nothing after a rollback, nor a notification", async () => {
      const jobs = await listenForJobs(pool);
      const key = unique("order");
      let id = "";
      await errorOf(
        transaction(pool, async (client) => {
          id = (await add(client, { idempotency_key: key })) ?? "";
          throw new Error("the shop changes its mind");
        }),
      );
      assert.deepEqual(await traces(id, key), { rows: 0, jobs: 0, addresses: 0, keys: 0 });
      assert.equal(await jobs.count(), 0);
      await jobs.close();
    });

    test("leaves nothing after a rollback to a savepoint, while the transaction goes on", async () => {
      const key = unique("order");
      const [kept, undone] = await transaction(pool, async (client) => {
        const kept = await add(client);
        await client.query("savepoint before");
        const undone = await add(client, { idempotency_key: key });
        await client.query("rollback to savepoint before");
        return [kept ?? "", undone ?? ""];
      });
      assert.deepEqual(await traces(undone, key), { rows: 0, jobs: 0, addresses: 0, keys: 0 });
      assert.equal((await jobsOf(pool, kept)).length, 1);
    });

    test("has the documented defaults", async () => {
      const id = (await add(pool)) ?? "";
      const { created_at, send_at, next_attempt_at, parameters, ...row } = await mail(pool, id);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
      assert.ok(
        Math.abs(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) - created_at.getTime()) < 5_000,
      );
      assert.deepEqual([send_at, next_attempt_at, parameters], [created_at, created_at, {}]);
      const expected = {
        status: "PENDING",
        max_attempts: 8,
        attempt_count: 0,
        deferral_count: 0,
        priority: 0,
        cc: [],
        bcc: [],
        reply_to: [],
        attachments: [],
        headers: {},
        delivered_to: [],
        refused: {},
        expires_at: null,
        transport: null,
        locale: null,
        error_code: null,
        possible_duplicate: false,
        finished_at: null,
        lease_token: null,
      };
      for (const [name, value] of Object.entries(expected))
        assert.deepEqual(row[name as keyof typeof row], value, name);
    });

    test("takes its number of attempts from the workers' configuration", async (t) => {
      await pool.query("insert into posthaste_private.settings values ('max_attempts', '3')");
      t.after(
        async () =>
          void (await pool.query("delete from posthaste_private.settings where name = 'max_attempts'")),
      );
      assert.equal((await mail(pool, (await add(pool)) ?? "")).max_attempts, 3);
      assert.equal((await mail(pool, (await add(pool, { max_attempts: 5 })) ?? "")).max_attempts, 5);
    });

    test("takes null for every field that may be left out", async () => {
      const optional = [
        "parameters",
        "cc",
        "bcc",
        "reply_to",
        "from_address",
        "locale",
        "attachments",
        "headers",
        "transport",
        "priority",
        "idempotency_key",
        "reference",
        "owner",
        "send_at",
        "expires_at",
        "max_attempts",
      ];
      const id = await add(pool, Object.fromEntries(optional.map((name) => [name, null])));
      assert.equal((await mail(pool, id ?? "")).status, "PENDING");
    });

    test("that is due far in the future has a row and no job, and one due within a minute has its job at its time", async () => {
      const later = await add(pool, { send_at: new Date(Date.now() + 3_600_000) });
      assert.deepEqual(await jobsOf(pool, later ?? ""), []);
      const soon = new Date(Date.now() + 30_000);
      const [job] = await jobsOf(pool, (await add(pool, { send_at: soon, priority: -5 })) ?? "");
      assert.deepEqual([job.run_at, job.priority], [soon, -5]);
    });

    test("for a stopped transport has a row and no job", async () => {
      await pool.query("select posthaste.pause('bulk', 'quota')");
      assert.deepEqual(await jobsOf(pool, (await add(pool, { transport: "bulk" })) ?? ""), []);
    });

    for (const address of ["", "ada", "ada>", "Ada <>", "a@b@c.test", "x".repeat(2_000), "a\u0001b@x.test"]) {
      test(`to ${JSON.stringify(address.slice(0, 12))} is kept as FAILED without a job, and the transaction stands`, async () => {
        const id = await transaction(pool, (client) => add(client, { recipients: [address] }));
        const row = await mail(pool, id ?? "");
        assert.deepEqual([row.status, row.error_code, row.attempt_count], ["FAILED", "recipient_invalid", 0]);
        assert.match(row.error_message ?? "", /^recipients: /);
        assert.ok(row.finished_at);
        assert.deepEqual(await jobsOf(pool, id ?? ""), []);
      });
    }

    test("has its bare addresses in lower case in the index, each once", async () => {
      const id = await add(pool, {
        recipients: [" Ada <Ada@Shop.Example> ", "ada@shop.example"],
        cc: ["bob@x.test"],
        bcc: ["eve@x.test"],
        reply_to: ["shop@x.test"],
      });
      const rows = await database.query(
        "select address from posthaste_private.recipient_index where email_id = $1 order by 1",
        [id],
      );
      assert.deepEqual(
        rows.map(({ address }) => address),
        ["ada@shop.example", "bob@x.test", "eve@x.test"],
      );
      assert.deepEqual((await mail(pool, id ?? "")).recipients, [
        "Ada <Ada@Shop.Example>",
        "ada@shop.example",
      ]);
    });

    for (const level of ["repeatable read", "serializable"]) {
      test(`can be enqueued under ${level}`, async () => {
        const key = unique("order");
        const id = await transaction(
          pool,
          (client) => add(client, { idempotency_key: key }),
          `begin isolation level ${level}`,
        );
        assert.deepEqual(await traces(id ?? "", key), { rows: 1, jobs: 1, addresses: 1, keys: 1 });
      });
    }
  });
}

test("recipient and recipients of one call are joined", async () => {
  const id = await enqueue(pool, { recipient: "a@x.test", recipients: ["b@x.test", "c@x.test"] });
  assert.deepEqual((await mail(pool, id)).recipients, ["a@x.test", "b@x.test", "c@x.test"]);
});

test("ids rise with time", async () => {
  const first = await enqueue(pool);
  await pool.query(
    "do $$ begin while clock_timestamp() < now() + interval '2 ms' loop null; end loop; end $$",
  );
  assert.ok((await enqueue(pool)) > first);
});

test("a NUL character in parameters is refused with words that name it", async () => {
  const error = await errorOf(enqueue(pool, { parameters: '{"name": "a\\u0000b"}' }));
  assert.equal(error.code, "22P05");
  assert.match(error.message + error.detail, /Unicode escape|\\u0000/);
});
