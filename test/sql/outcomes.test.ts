import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { again, attemptsOf, claimed, enqueue, jobsOf, later, mail, record, transaction } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

const REPLY = { code: 550, enhanced: "5.1.1", text: "no such user" };
const THREE = { recipients: ["Ada <a@x.test>", "b@x.test"], bcc: ["c@x.test"] };

suite("the holder's outcome", () => {
  test("sent to everybody ends as SENT with what was told, one attempt and no lease", async () => {
    const lease = await claimed(pool, THREE);
    const result = await record(pool, lease, {
      kind: "sent",
      accepted: [1, 2, 3],
      phase: "final_dot",
      smtp_code: 250,
      enhanced_code: "2.0.0",
      transport: "default",
      subject: "Thanks",
      provider_response: "250 ok",
      template_version: "v1",
    });
    assert.deepEqual([result.applied, result.status, result.error_code], ["recorded", "SENT", null]);
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [
        row.delivered_to,
        row.refused,
        row.lease_token,
        row.locked_until,
        row.subject,
        row.provider_response,
        row.transport_used,
        row.template_version,
      ],
      [["a@x.test", "b@x.test", "c@x.test"], {}, null, null, "Thanks", "250 ok", "default", "v1"],
    );
    assert.ok(row.sent_at && row.finished_at && row.error_code === null);
    const [attempt, ...rest] = await attemptsOf(pool, lease.id);
    assert.deepEqual(
      [attempt.number, attempt.outcome, attempt.smtp_code, attempt.worker, attempt.started_at, rest.length],
      [1, "sent", 250, "w1", row.locked_at, 0],
    );
  });

  test("sent to some and refused for the others ends as SENT with recipient_refused", async () => {
    const lease = await claimed(pool, THREE);
    await record(pool, lease, { kind: "sent", accepted: [1, 3], refused: { 2: REPLY } });
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [row.status, row.delivered_to, row.refused, row.error_code],
      ["SENT", ["a@x.test", "c@x.test"], { "b@x.test": REPLY }, "recipient_refused"],
    );
  });

  test("refused for everybody ends as FAILED", async () => {
    const lease = await claimed(pool, THREE);
    await record(pool, lease, {
      kind: "failed",
      refused: { 1: REPLY, 2: REPLY, 3: REPLY },
      error_code: "recipient_refused",
      smtp_code: 550,
      phase: "rcpt",
    });
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [row.status, Object.keys(row.refused), row.error_code],
      ["FAILED", ["a@x.test", "b@x.test", "c@x.test"], "recipient_refused"],
    );
    assert.equal((await attemptsOf(pool, lease.id))[0].outcome, "refused");
  });

  test("failed without a server's reply is an attempt that we failed", async () => {
    const lease = await claimed(pool);
    await record(pool, lease, {
      kind: "failed",
      error_code: "render_failed",
      phase: "render",
      error_message: `line\r\nbreak\u2028${"x".repeat(3_000)}`,
    });
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [row.status, row.error_code, row.error_message?.slice(0, 11), row.error_message?.length],
      ["FAILED", "render_failed", "line break ", 2_000],
    );
    assert.equal((await attemptsOf(pool, lease.id))[0].outcome, "failed");
  });

  test("put off for some: the delivered ones are kept, and the rest waits with its job in the same transaction", async () => {
    const lease = await claimed(pool, THREE);
    await pool.query("select graphile_worker.remove_job('posthaste:' || $1)", [lease.id]);
    await transaction(pool, async (client) => {
      await record(
        client,
        lease,
        later({ accepted: [2], refused: { 3: REPLY }, error_code: "recipient_deferred" }),
      );
      assert.equal((await jobsOf(client, lease.id)).length, 1);
    });
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [row.status, row.delivered_to, Object.keys(row.refused), row.error_code],
      ["PENDING", ["b@x.test"], ["c@x.test"], "recipient_deferred"],
    );
    assert.deepEqual((await jobsOf(pool, lease.id))[0].run_at, row.next_attempt_at);

    await record(pool, await again(pool, lease.id), { kind: "sent", accepted: [1] });
    const end = await mail(pool, lease.id);
    assert.deepEqual(
      [end.status, end.delivered_to, end.error_code],
      ["SENT", ["a@x.test", "b@x.test"], "recipient_refused"],
    );
  });

  test("with equal addresses at several positions counts each once", async () => {
    const lease = await claimed(pool, { recipients: ["Ada <a@x.test>", "a@x.test"], cc: ["b@x.test"] });
    await record(pool, lease, { kind: "sent", accepted: [1, 2, 3] });
    assert.deepEqual((await mail(pool, lease.id)).delivered_to, ["a@x.test", "b@x.test"]);
  });

  test("retry with nothing open becomes SENT", async () => {
    const lease = await claimed(pool, THREE);
    await pool.query(
      "update posthaste.email_messages set delivered_to = '{a@x.test,b@x.test,c@x.test}' where id = $1",
      [lease.id],
    );
    await record(pool, lease, later());
    assert.equal((await mail(pool, lease.id)).status, "SENT");
  });

  test("retry with attempts used up and some delivered ends as SENT with the rest refused and the reason", async () => {
    const lease = await claimed(pool, { ...THREE, max_attempts: 1 });
    await record(
      pool,
      lease,
      later({ accepted: [1], refused: { 2: REPLY }, error_code: "recipient_deferred", smtp_code: 450 }),
    );
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [row.status, row.delivered_to, row.error_code],
      ["SENT", ["a@x.test"], "recipient_deferred"],
    );
    assert.deepEqual(row.refused, {
      "b@x.test": REPLY,
      "c@x.test": { code: 450, enhanced: null, text: "recipient_deferred" },
    });
  });

  test("retry tries exactly max_attempts times, then fails with the last cause, numbering each attempt", async () => {
    const id = await enqueue(pool, { max_attempts: 3 });
    for (let n = 1; n <= 3; n++) {
      const result = await record(
        pool,
        await again(pool, id),
        later({ error_code: n === 3 ? "recipient_deferred" : "message_deferred" }),
      );
      assert.deepEqual([result.status, result.attempt_count], [n < 3 ? "PENDING" : "FAILED", n]);
    }
    assert.equal((await mail(pool, id)).error_code, "recipient_deferred");
    assert.deepEqual(
      (await attemptsOf(pool, id)).map(({ number, outcome }) => [number, outcome]),
      [
        [1, "deferred"],
        [2, "deferred"],
        [3, "deferred"],
      ],
    );
    await pool.query("select posthaste.retry($1)", [id]);
    await record(pool, await again(pool, id), { kind: "sent", accepted: [1] });
    assert.deepEqual(
      (await attemptsOf(pool, id)).map(({ number }) => number),
      [1, 2, 3, 4],
    );
    assert.equal((await mail(pool, id)).attempt_count, 1);
  });
});
