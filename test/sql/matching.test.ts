import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { claimed, enqueue, errorOf, type Fields, mail, record, unique } from "./mails.ts";
import { listenForJobs } from "./notifications.ts";

const database = await createTestDatabase();
const { pool } = database;
const operator = database.as("posthaste_operator");

async function matching(
  action: "cancel" | "retry",
  filter: unknown,
  dryRun = false,
  max: number | null = 1_000,
) {
  const { rows } = await operator.query(`select * from posthaste.${action}_matching($1, $2, $3)`, [
    JSON.stringify(filter),
    dryRun,
    max,
  ]);
  return Object.fromEntries(rows.map(({ outcome, emails }) => [outcome, Number(emails)]));
}

async function listed(filter: unknown): Promise<string[]> {
  return (
    await database.query("select id from posthaste_private.list_emails($1, 100)", [JSON.stringify(filter)])
  ).map(({ id }) => id);
}

async function failed(fields: Fields): Promise<string> {
  const lease = await claimed(pool, fields);
  await record(pool, lease, { kind: "failed", error_code: "message_refused", transport: "default" });
  return lease.id;
}

suite("cancel_matching and retry_matching", () => {
  test("count only in a dry run", async () => {
    const reference = unique("order");
    const waiting = await enqueue(pool, { reference });
    const broken = await failed({ reference });
    assert.deepEqual(await matching("cancel", { reference }, true), { "would be cancelled": 1 });
    assert.deepEqual(await matching("retry", { reference }, true), { "would be retried": 1 });
    assert.deepEqual(
      [(await mail(pool, waiting)).status, (await mail(pool, broken)).status],
      ["PENDING", "FAILED"],
    );
  });

  test("cancel what waits and nothing else", async () => {
    const reference = unique("order");
    await enqueue(pool, { reference });
    const partly = await claimed(pool, { reference, recipients: ["a@x.test", "b@x.test"] });
    await record(pool, partly, { kind: "retry", accepted: [1], error_code: "recipient_deferred" });
    const sending = await claimed(pool, { reference });
    const broken = await failed({ reference });
    assert.deepEqual(await matching("cancel", { reference }), { cancelled: 1, "sent to some already": 1 });
    assert.deepEqual(
      [(await mail(pool, sending.id)).status, (await mail(pool, broken)).status],
      ["SENDING", "FAILED"],
    );
    assert.deepEqual(await matching("cancel", { reference }), {});
  });

  test("retry what has failed, leave the expired, and notify once", async () => {
    const reference = unique("order");
    const ids = [await failed({ reference }), await failed({ reference }), await failed({ reference })];
    await pool.query("update posthaste.email_messages set expires_at = now() where id = $1", [ids[0]]);
    assert.deepEqual(await matching("retry", { reference }, true), { "would be retried": 2, expired: 1 });
    const jobs = await listenForJobs(pool);
    assert.deepEqual(await matching("retry", { reference }), { retried: 2, expired: 1 });
    assert.equal(await jobs.count(), 1);
    assert.deepEqual(await matching("retry", { reference }), { retried: 0, expired: 1 });
    assert.equal(await jobs.count(), 0);
    await jobs.close();
  });

  test("act on the newest, at most as many as allowed", async () => {
    const reference = unique("order");
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await enqueue(pool, { reference }));
    const newest = ids.toSorted().at(-1) ?? "";
    assert.deepEqual(await matching("cancel", { reference }, false, 1), { cancelled: 1 });
    assert.equal((await mail(pool, newest)).status, "CANCELLED");
    assert.deepEqual(await matching("cancel", { reference }, false, null), { cancelled: 2 });
  });

  for (const action of ["cancel", "retry"] as const) {
    test(`${action} nothing when the filter asks for another status`, async () => {
      const reference = unique("order");
      const id = action === "cancel" ? await enqueue(pool, { reference }) : await failed({ reference });
      const [own, other] = action === "cancel" ? ["PENDING", "FAILED"] : ["FAILED", "PENDING"];
      const none = action === "cancel" ? {} : { retried: 0 };
      assert.deepEqual(await matching(action, { reference, status: other }), none);
      assert.deepEqual(await matching(action, { reference, status: [other, "SENT"] }), none);
      assert.equal((await mail(pool, id)).status, own);
      const done = action === "cancel" ? { cancelled: 1 } : { retried: 1 };
      assert.deepEqual(await matching(action, { reference, status: [other, own.toLowerCase()] }), done);
    });
  }

  const wrong: [string, unknown][] = [
    ["an unknown key", { referense: "order:1" }],
    ["an array", []],
    ["a string", "all"],
    ["JSON null", null],
    ["a null in it", { reference: null }],
    ["a number in it", { reference: 1 }],
    ["an object in it", { status: { not: "SENT" } }],
    ["an array where one value is asked for", { template: ["a", "b"] }],
    ["true where a word is asked for", { template: true }],
    ["an array of numbers", { error_code: [1] }],
    ["an id that is no UUID", { id: "42" }],
    ["a time that is none", { since: "soon" }],
    ["a flag that is neither true nor false", { possible_duplicate: "maybe" }],
  ];
  for (const [what, filter] of wrong) {
    test(`refuse ${what} as a filter: PH030`, async () => {
      for (const action of ["cancel", "retry"] as const) {
        for (const dryRun of [true, false]) {
          const error = await errorOf(matching(action, filter, dryRun));
          assert.deepEqual([error.code, error.column], ["PH030", "filter"], error.message);
        }
      }
    });
  }

  test("refuse SQL null as a filter", async () => {
    assert.equal(
      (await errorOf(operator.query("select * from posthaste.cancel_matching(null)"))).code,
      "PH030",
    );
  });
});

suite("a filter", () => {
  test("by each key finds the mails that have it, and no others", async () => {
    const reference = unique("order");
    const expires = {
      kind: "unknown",
      error_code: "outcome_unknown",
      on_unknown_outcome: "fail",
      phase: "final_dot",
    };
    const lease = await claimed(pool, {
      reference,
      template: "filtered",
      owner: reference,
      transport: "bulk",
      recipients: ["Ada <Ada.F@x.test>"],
    });
    await record(pool, lease, expires);
    const other = await enqueue(pool);
    const { created_at } = await mail(pool, lease.id);
    const filters: Fields[] = [
      { id: lease.id },
      { id: [lease.id] },
      { status: "failed", reference },
      { status: ["FAILED", "SENT"], reference },
      { template: "filtered" },
      { error_code: "outcome_unknown" },
      { error_code: ["outcome_unknown", "expired"] },
      { reference },
      { owner: reference },
      { recipient: " ADA.F@x.test " },
      { transport: "bulk" },
      { since: created_at, until: new Date(created_at.getTime() + 1) },
      { possible_duplicate: true },
      { possible_duplicate: "true", reference },
    ];
    for (const filter of filters) assert.deepEqual(await listed(filter), [lease.id], JSON.stringify(filter));
    const all = await listed({});
    assert.ok(all.includes(lease.id) && all.includes(other));
    assert.deepEqual(await listed({ reference, template: "other" }), []);
    assert.deepEqual(await listed({ id: [] }), []);
    assert.deepEqual(await listed({ recipient: "x.test" }), [], "no part of an address");
  });

  test("by transport finds mail without one when it is the default", async () => {
    const reference = unique("order");
    const id = await enqueue(pool, { reference });
    assert.deepEqual(await listed({ reference, transport: "first" }), []);
    await pool.query("insert into posthaste_private.settings values ('default_transport', '\"first\"')");
    assert.deepEqual(await listed({ reference, transport: "first" }), [id]);
  });
});
