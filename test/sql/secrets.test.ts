import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { again, claimed, enqueue, errorOf, later, mail, POLICY, record } from "./mails.ts";

const SECRET = "canary-482913";
const PARAMETERS = {
  code: SECRET,
  name: "Ada",
  links: { reset: `https://shop.example/${SECRET}`, help: "https://shop.example/help" },
  guests: [
    { name: "Bo", pin: SECRET },
    { name: "Cy", pin: SECRET },
  ],
};
/** What is left of them. */
const KEPT = {
  name: "Ada",
  links: { help: "https://shop.example/help" },
  guests: [{ name: "Bo" }, { name: "Cy" }],
};
const PATHS = ["code", "links.reset", "guests.pin", "not.there"];

const database = await createTestDatabase();
await publish("w1", [
  { name: "login", secrets: PATHS },
  { name: "order-confirmed", secrets: [] },
]);

async function publish(worker: string, templates: readonly object[]): Promise<void> {
  const published = templates.map((template) => ({ version: "v1", required: [], types: {}, ...template }));
  await database.query("select posthaste_private.publish_templates($1, $2)", [
    worker,
    JSON.stringify(published),
  ]);
}

const secretMail = (template = "login") => enqueue(database.pool, { template, parameters: PARAMETERS });
const held = (template = "login") => claimed(database.pool, { template, parameters: PARAMETERS });
const sent = { kind: "sent", accepted: [1], subject: `Your code ${SECRET}`, secrets: PATHS };
const age = (id: string) =>
  database.query(
    "update posthaste.email_messages set finished_at = now() - interval '25 hours' where id = $1",
    [id],
  );
async function maintain(policy: object = {}): Promise<number> {
  const [row] = await database.query(
    "select (posthaste_private.maintain($1, '0', 100) ->> 'secrets_removed')::int as removed",
    [JSON.stringify({ ...POLICY, secrets_after_failure: 86_400_000, ...policy })],
  );
  return row.removed;
}

suite("secret parameters", () => {
  test("go with SENT, the subject too, and everything else stays", async () => {
    const lease = await held();
    assert.equal((await record(database.pool, lease, sent)).status, "SENT");
    const row = await mail(database.pool, lease.id);
    assert.deepEqual([row.parameters, row.subject], [KEPT, null]);
    assert.ok(row.secrets_removed_at);
  });

  test("go with SENT by the worker's word alone, when it was the first to read a new template", async () => {
    const lease = await claimed(database.pool, {
      template: "order-confirmed",
      parameters: { pin: SECRET, n: 1 },
    });
    await record(database.pool, lease, { ...sent, secrets: ["pin"] });
    assert.deepEqual((await mail(database.pool, lease.id)).parameters, { n: 1 });
  });

  test("go with SENT by any version that was ever published, whatever the worker's own version says", async () => {
    await publish("w2", [{ name: "login", secrets: ["pin"] }]);
    const lease = await held();
    await record(database.pool, lease, { ...sent, secrets: [] });
    assert.deepEqual((await mail(database.pool, lease.id)).parameters, KEPT);
  });

  test("go with CANCELLED, by one cancel or by many", async () => {
    const [one, other] = [await secretMail(), await secretMail()];
    await database.query("select posthaste.cancel($1)", [one]);
    await database.query("select * from posthaste.cancel_matching($1)", [JSON.stringify({ id: other })]);
    for (const id of [one, other]) {
      const row = await mail(database.pool, id);
      assert.deepEqual([row.status, row.parameters], ["CANCELLED", KEPT]);
    }
  });

  test("go with SENT, when a mail is cancelled that some already have", async () => {
    const id = await enqueue(database.pool, {
      template: "login",
      parameters: PARAMETERS,
      recipients: ["a@shop.example", "b@shop.example"],
    });
    await record(database.pool, await again(database.pool, id), later({ accepted: [1], subject: SECRET }));
    assert.deepEqual(
      (await mail(database.pool, id)).parameters,
      PARAMETERS,
      "the second one still needs them",
    );
    assert.equal((await mail(database.pool, id)).subject, null);
    await database.query("select posthaste.cancel($1)", [id]);
    const row = await mail(database.pool, id);
    assert.deepEqual([row.status, row.parameters], ["SENT", KEPT]);
  });

  test("go with late news that a mail which failed has arrived", async () => {
    const lease = await held();
    await record(database.pool, lease, { kind: "failed", error_code: "message_refused" });
    await record(database.pool, lease, sent);
    const row = await mail(database.pool, lease.id);
    assert.deepEqual([row.status, row.parameters], ["SENT", KEPT]);
  });

  test("go all, when a mail is cancelled whose template no worker has ever known", async () => {
    const id = await secretMail("never-known");
    await database.query("select posthaste.cancel($1)", [id]);
    assert.deepEqual((await mail(database.pool, id)).parameters, {});
  });

  test("go when the mail expires, because it can never be retried", async () => {
    const id = await enqueue(database.pool, {
      template: "login",
      parameters: PARAMETERS,
      expires_at: new Date(Date.now() + 60_000),
    });
    await database.query("update posthaste.email_messages set expires_at = now() where id = $1", [id]);
    await maintain();
    const row = await mail(database.pool, id);
    assert.deepEqual([row.status, row.error_code, row.parameters], ["FAILED", "expired", KEPT]);
  });

  test("stay with FAILED for a retry, and go after secretsAfterFailure, in batches", async () => {
    const lease = await held();
    await record(database.pool, lease, { kind: "failed", error_code: "message_refused" });
    await maintain();
    assert.deepEqual((await mail(database.pool, lease.id)).parameters, PARAMETERS);
    await age(lease.id);
    assert.equal(await maintain({ secrets_after_failure: 91_000_000 }), 0);
    assert.equal(await maintain(), 1);
    assert.equal(await maintain(), 0, "each is touched once");
    const row = await mail(database.pool, lease.id);
    assert.deepEqual([row.status, row.parameters], ["FAILED", KEPT]);
  });

  test("of other templates are not touched, and their subjects are kept", async () => {
    const lease = await claimed(database.pool, { template: "order-confirmed", parameters: PARAMETERS });
    await record(database.pool, lease, { ...sent, secrets: [], subject: "Order 1" });
    const row = await mail(database.pool, lease.id);
    assert.deepEqual([row.parameters, row.subject, row.secrets_removed_at], [PARAMETERS, "Order 1", null]);
  });
});

suite("a retry after the secrets are gone", () => {
  async function failedLongAgo(): Promise<string> {
    const lease = await held();
    await record(database.pool, lease, { kind: "failed", error_code: "message_refused" });
    await age(lease.id);
    await maintain();
    return lease.id;
  }

  test("is refused with PH023, which shows no value", async () => {
    const id = await failedLongAgo();
    const error = await errorOf(database.query("select posthaste.retry($1)", [id]));
    assert.deepEqual([error.code, error.column], ["PH023", "parameters"]);
    assert.match(error.message, /its secret parameters have been removed/);
    assert.doesNotMatch(JSON.stringify(error), new RegExp(SECRET));
  });

  test("is counted and left alone among many", async () => {
    const id = await failedLongAgo();
    const fresh = await held();
    await record(database.pool, fresh, { kind: "failed", error_code: "message_refused" });
    const filter = JSON.stringify({ id: [id, fresh.id] });
    for (const dry of [true, false]) {
      const rows = await database.query("select outcome, emails::int from posthaste.retry_matching($1, $2)", [
        filter,
        dry,
      ]);
      assert.deepEqual(
        rows.map(({ outcome, emails }) => [outcome, emails]),
        [
          [dry ? "would be retried" : "retried", 1],
          ["secrets removed", 1],
        ],
      );
    }
    assert.equal((await mail(database.pool, id)).status, "FAILED");
    assert.deepEqual((await mail(database.pool, fresh.id)).parameters, PARAMETERS);
  });
});

test("the same request with the same key is still the same after its secrets are gone", async () => {
  const request = { template: "login", parameters: PARAMETERS, idempotency_key: "login:canary" };
  const lease = await claimed(database.pool, request);
  await record(database.pool, lease, sent);
  assert.equal(await enqueue(database.pool, request), lease.id);
});

suite("strict, with what workers have published", () => {
  const strictly = async (template: string, parameters: object) => {
    const client = await database.pool.connect();
    try {
      await client.query("begin; set local posthaste.strict = on");
      return await enqueue(client, { template, parameters }).then(
        () => null,
        // biome-ignore lint/suspicious/noExplicitAny: the fields of a database error.
        (error: any) => error,
      );
    } finally {
      await client.query("rollback");
      client.release();
    }
  };

  test("names parameters of a wrong JSON type, with the types and without the value", async () => {
    const types = { total: ["number", "null"], name: ["string"] };
    await publish("w3", [{ name: "typed", required: ["total"], types }]);
    assert.equal(await strictly("typed", { total: 5, name: "x", more: {} }), null);
    assert.equal(await strictly("typed", { total: null }), null);
    const error = await strictly("typed", { total: SECRET, name: true });
    assert.deepEqual([error.code, error.column], ["PH013", "parameters"]);
    assert.match(error.message, /name \(string, not boolean\), total \(number or null, not string\)/);
    assert.doesNotMatch(JSON.stringify(error), new RegExp(SECRET));
    assert.equal((await strictly("typed", { name: "x" })).code, "PH012");
  });

  test("takes what one of two versions takes while a deploy rolls", async () => {
    await publish("w4", [{ name: "rolling", types: { n: ["number"] } }]);
    await publish("w5", [{ name: "rolling", types: { n: ["string"] } }]);
    assert.equal(await strictly("rolling", { n: 1 }), null);
    assert.equal(await strictly("rolling", { n: "1" }), null);
    assert.equal((await strictly("rolling", { n: true })).code, "PH013");
  });
});
