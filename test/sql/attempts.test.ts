import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { again, attemptsOf, claimed, enqueue, jobsOf, later, mail, POLICY, record } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

/** Seconds until the next attempt. */
async function delay(id: string): Promise<number> {
  const [row] = await database.query(
    "select extract(epoch from next_attempt_at - now())::float8 as s from posthaste.email_messages where id = $1",
    [id],
  );
  return row.s;
}

suite("an attempt", () => {
  test("is given back as a deferral with refund yes, however often", async () => {
    const id = await enqueue(pool, { max_attempts: 1 });
    for (let n = 1; n <= 3; n++) {
      await record(
        pool,
        await again(pool, id),
        later({ refund: "yes", error_code: "transport_unavailable", phase: "connect" }),
      );
      const row = await mail(pool, id);
      assert.deepEqual([row.status, row.attempt_count, row.deferral_count], ["PENDING", 0, n]);
    }
    assert.equal((await attemptsOf(pool, id)).length, 3);
  });

  test("that is released goes back at once and for nothing, with the cause of before", async () => {
    const id = await enqueue(pool);
    await record(pool, await again(pool, id), later());
    const lease = await again(pool, id);
    await pool.query("select graphile_worker.remove_job('posthaste:' || $1)", [id]);
    await record(pool, lease, { kind: "released", refund: "yes" });
    const row = await mail(pool, id);
    assert.deepEqual(
      [row.status, row.attempt_count, row.deferral_count, row.error_code],
      ["PENDING", 1, 0, "message_deferred"],
    );
    assert.ok((await delay(id)) <= 0);
    assert.deepEqual(
      (await attemptsOf(pool, id)).map(({ outcome }) => outcome),
      ["deferred", "released"],
    );
    assert.equal((await jobsOf(pool, id)).length, 1);
  });
});

suite("the pause before the next attempt", () => {
  test("follows the list of delays, half of it random, and its last one repeats", async () => {
    const id = await enqueue(pool);
    for (const [low, high] of [
      [15, 30],
      [60, 120],
      [60, 120],
    ] as const) {
      await record(pool, await again(pool, id), later());
      const seconds = await delay(id);
      assert.ok(seconds > low - 2 && seconds <= high, `${seconds}`);
    }
  });

  test("is at least the wait that the server named", async () => {
    const lease = await claimed(pool);
    await record(pool, lease, later({ wait: 3_600_000 }));
    assert.ok(Math.abs((await delay(lease.id)) - 3_600) < 5);
  });

  test("that would pass expires_at ends the mail at once as expired, with the cause in the message", async () => {
    const lease = await claimed(pool, { expires_at: new Date(Date.now() + 10_000) });
    await record(pool, lease, later({ error_message: "451 try later" }));
    const row = await mail(pool, lease.id);
    assert.deepEqual([row.status, row.error_code], ["FAILED", "expired"]);
    assert.match(row.error_message ?? "", /451 try later/);
    assert.equal((await attemptsOf(pool, lease.id))[0].error_code, "message_deferred");
  });

  test("ends when the mail is older than max_age, with the last cause", async () => {
    const lease = await claimed(pool);
    await pool.query(
      "update posthaste.email_messages set send_at = now() - interval '6 days', created_at = now() - interval '6 days' where id = $1",
      [lease.id],
    );
    await record(pool, lease, later({ refund: "yes", error_code: "transport_unavailable" }));
    assert.deepEqual(
      [(await mail(pool, lease.id)).status, (await mail(pool, lease.id)).error_code],
      ["FAILED", "transport_unavailable"],
    );
  });
});

suite("an unknown outcome", () => {
  const unknown = { kind: "unknown", phase: "final_dot", error_code: "outcome_unknown" };

  test("is tried again at once the first time, flagged, and with a pause the second time", async () => {
    const id = await enqueue(pool);
    await record(pool, await again(pool, id), unknown);
    const row = await mail(pool, id);
    assert.deepEqual(
      [row.status, row.possible_duplicate, row.error_code],
      ["PENDING", true, "outcome_unknown"],
    );
    assert.ok((await delay(id)) <= 0);
    await record(pool, await again(pool, id), unknown);
    assert.ok((await delay(id)) > 10);
    assert.equal((await attemptsOf(pool, id))[0].outcome, "unknown");
    await record(pool, await again(pool, id), { kind: "sent", accepted: [1] });
    assert.equal((await mail(pool, id)).possible_duplicate, true, "the flag stays");
  });

  for (const [policy, told, status] of [
    ["fail", null, "FAILED"],
    ["fail", "resend", "PENDING"],
    ["resend", "fail", "FAILED"],
  ] as const) {
    test(`ends as ${status} when the configuration says ${policy} and the template ${told ?? "nothing"}`, async () => {
      const lease = await claimed(pool);
      await record(
        pool,
        lease,
        { ...unknown, on_unknown_outcome: told },
        { ...POLICY, on_unknown_outcome: policy },
      );
      const row = await mail(pool, lease.id);
      assert.deepEqual(
        [row.status, row.possible_duplicate, row.error_code],
        [status, true, "outcome_unknown"],
      );
    });
  }

  test("of the last attempt ends as FAILED", async () => {
    const lease = await claimed(pool, { max_attempts: 1 });
    await record(pool, lease, unknown);
    assert.equal((await mail(pool, lease.id)).status, "FAILED");
  });
});
