import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import {
  claimed,
  enqueue,
  errorOf,
  jobsOf,
  later,
  mail,
  record,
  someoneWaits,
  transaction,
} from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;
const operator = database.as("posthaste_operator");

const TWO = { recipients: ["a@x.test", "b@x.test"] };
// biome-ignore lint/suspicious/noExplicitAny: a row of the mail.
const act = async (action: "cancel" | "retry", id: string | null): Promise<any> =>
  (await operator.query(`select * from posthaste.${action}($1)`, [id])).rows[0];

/** A mail that failed, after one attempt. */
async function failed(fields = {}, outcome = {}): Promise<string> {
  const lease = await claimed(pool, fields);
  await record(pool, lease, { kind: "failed", error_code: "message_refused", smtp_code: 554, ...outcome });
  return lease.id;
}

suite("cancel", () => {
  test("withdraws a waiting mail and returns its row", async () => {
    const id = await enqueue(pool);
    const row = await act("cancel", id);
    assert.deepEqual([row.id, row.status, row.error_code, row.sent_at], [id, "CANCELLED", "cancelled", null]);
    assert.deepEqual(await mail(pool, id), row);
  });

  test("of a mail that some have received ends it as SENT, with the rest refused and the reason", async () => {
    const lease = await claimed(pool, TWO);
    await record(pool, lease, later({ accepted: [1] }));
    const row = await act("cancel", lease.id);
    assert.deepEqual([row.status, row.delivered_to, row.error_code], ["SENT", ["a@x.test"], "cancelled"]);
    assert.deepEqual(row.refused, { "b@x.test": { code: null, enhanced: null, text: "cancelled" } });
  });

  test("is refused while a worker is sending, and after the end", async () => {
    const sending = await claimed(pool);
    const error = await errorOf(act("cancel", sending.id));
    assert.deepEqual([error.code, error.detail], ["PH021", "Status: SENDING"]);
    assert.match(error.hint, /in a minute/);
    for (const id of [await failed(), (await act("cancel", await enqueue(pool))).id]) {
      assert.equal((await errorOf(act("cancel", id))).code, "PH021");
    }
  });

  test("of a mail that does not exist, or of null, says so", async () => {
    assert.equal((await errorOf(act("cancel", randomUUID()))).code, "PH020");
    assert.equal((await errorOf(act("cancel", null))).code, "PH020");
  });

  test("waits for a claim that is under way, and then says that it is being sent", async () => {
    const id = await enqueue(pool);
    const attempt = await transaction(pool, async (client) => {
      await client.query(
        "select from posthaste_private.claim(array[$1::uuid], 'w1', '60 s', 'production', 'x.test')",
        [id],
      );
      const attempt = errorOf(act("cancel", id));
      await someoneWaits(pool);
      return { attempt };
    });
    assert.equal((await attempt.attempt).detail, "Status: SENDING");
  });
});

suite("retry", () => {
  test("sets a FAILED mail to PENDING with fresh attempts and age, and adds its job", async () => {
    const id = await failed({ max_attempts: 1 });
    await pool.query("select graphile_worker.remove_job('posthaste:' || $1)", [id]);
    const row = await act("retry", id);
    assert.deepEqual(
      [row.status, row.attempt_count, row.error_code, row.error_message, row.finished_at, row.refused],
      ["PENDING", 0, null, null, null, {}],
    );
    assert.ok(row.send_at > row.created_at);
    assert.deepEqual(row.next_attempt_at, row.send_at);
    assert.equal((await jobsOf(pool, id)).length, 1);
  });

  test("keeps who has it and tries the refused again", async () => {
    const lease = await claimed(pool, { ...TWO, max_attempts: 1 });
    await pool.query(
      "update posthaste.email_messages set status = 'FAILED', lease_token = null, locked_until = null, finished_at = now(), delivered_to = '{a@x.test}', refused = '{\"b@x.test\": {}}' where id = $1",
      [lease.id],
    );
    const row = await act("retry", lease.id);
    assert.deepEqual([row.delivered_to, row.refused], [["a@x.test"], {}]);
  });

  test("of an expired mail raises PH022", async () => {
    const id = await failed({ expires_at: new Date(Date.now() + 3_600_000) });
    assert.equal((await act("retry", id)).status, "PENDING", "before its expires_at");
    const expired = await failed();
    await pool.query("update posthaste.email_messages set expires_at = now() where id = $1", [expired]);
    const error = await errorOf(act("retry", expired));
    assert.deepEqual([error.code, error.column], ["PH022", "expires_at"]);
  });

  test("of a mail whose address cannot be mailed raises PH024 and keeps its cause", async () => {
    const id = await enqueue(pool, { recipients: ["jane"] });
    const error = await errorOf(act("retry", id));
    assert.deepEqual([error.code, error.column], ["PH024", "recipients"]);
    const counts = await database.query(
      "select * from posthaste.retry_matching(jsonb_build_object('id', $1::text))",
      [id],
    );
    assert.deepEqual(
      counts.map(({ outcome, emails }) => [outcome, Number(emails)]),
      [
        ["retried", 0],
        ["address invalid", 1],
      ],
    );
    assert.equal((await mail(pool, id)).error_message, "recipients: it has no @");
  });

  test("of a mail that has not failed, or does not exist, is refused", async () => {
    assert.equal((await errorOf(act("retry", await enqueue(pool)))).code, "PH021");
    assert.equal((await errorOf(act("retry", (await claimed(pool)).id))).code, "PH021");
    assert.equal((await errorOf(act("retry", randomUUID()))).code, "PH020");
  });

  test("by two at the same time is done once", async () => {
    const id = await failed();
    const results = await Promise.allSettled([act("retry", id), act("retry", id)]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  });
});
