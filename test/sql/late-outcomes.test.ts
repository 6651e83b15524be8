import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { claim, claimed, jobsOf, mail, POLICY, record } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

const KINDS = ["sent", "retry", "failed", "unknown", "crashed", "released"];
const TWO = { recipients: ["a@x.test", "b@x.test"] };

/** Ways from a claim to each state that late news can meet; the lease is lost on each. */
const states: Record<string, (id: string) => Promise<unknown>> = {
  PENDING: (id) =>
    change(
      id,
      "status = 'PENDING', lease_token = null, locked_until = null, next_attempt_at = now() + interval '1 hour'",
    ),
  "SENDING of somebody else": async (id) => {
    await change(id, "status = 'PENDING', lease_token = null, locked_until = null");
    assert.equal((await claim(pool, [id], "w2")).length, 1);
  },
  FAILED: (id) =>
    change(
      id,
      "status = 'FAILED', lease_token = null, locked_until = null, finished_at = now(), error_code = 'worker_crashed'",
    ),
  CANCELLED: async (id) => {
    await change(id, "status = 'PENDING', lease_token = null, locked_until = null");
    await pool.query("select posthaste.cancel($1)", [id]);
  },
};

function change(id: string, set: string) {
  return pool.query(`update posthaste.email_messages set ${set} where id = $1`, [id]);
}

for (const [state, reach] of Object.entries(states)) {
  suite(`late news about a mail that is ${state}`, () => {
    for (const kind of KINDS) {
      test(`of kind ${kind} that all was accepted makes it SENT and ends any lease`, async () => {
        const lease = await claimed(pool, TWO);
        await reach(lease.id);
        const result = await record(pool, lease, {
          kind,
          accepted: [1, 2],
          provider_response: "250 ok",
          transport: "default",
        });
        assert.deepEqual([result.applied, result.status], ["late", "SENT"]);
        const row = await mail(pool, lease.id);
        assert.deepEqual(
          [
            row.status,
            row.delivered_to,
            row.lease_token,
            row.locked_until,
            row.error_code,
            row.provider_response,
          ],
          ["SENT", ["a@x.test", "b@x.test"], null, null, null, "250 ok"],
        );
        assert.ok(row.sent_at && row.finished_at);
      });

      test(`of kind ${kind} that some was accepted only adds who has it`, async () => {
        const lease = await claimed(pool, TWO);
        await reach(lease.id);
        const { delivered_to, ...before } = await mail(pool, lease.id);
        assert.equal((await record(pool, lease, { kind, accepted: [2] })).applied, "late");
        const { delivered_to: now, ...after } = await mail(pool, lease.id);
        assert.deepEqual([delivered_to, now], [[], ["b@x.test"]]);
        assert.deepEqual(after, before);
      });

      test(`of kind ${kind} without an acceptance changes nothing`, async () => {
        const lease = await claimed(pool, TWO);
        await reach(lease.id);
        const before = await mail(pool, lease.id);
        const jobs = await jobsOf(pool, lease.id);
        const told = {
          kind,
          refund: "yes",
          refused: { 1: { code: 550, enhanced: null, text: "no" } },
          error_code: "recipient_refused",
        };
        assert.equal((await record(pool, lease, told)).applied, "ignored");
        assert.deepEqual(await mail(pool, lease.id), before);
        assert.deepEqual(await jobsOf(pool, lease.id), jobs);
        assert.deepEqual(
          await database.query("select from posthaste.email_attempts where email_id = $1", [lease.id]),
          [],
        );
      });
    }
  });
}

suite("an outcome", () => {
  test("without a token, or with a wrong one, is not the holder's", async () => {
    const { id } = await claimed(pool);
    const before = await mail(pool, id);
    for (const token of [randomUUID(), null]) {
      assert.equal(
        (await record(pool, { id, token: token as string }, { kind: "failed", error_code: "expired" }))
          .applied,
        "ignored",
      );
    }
    assert.deepEqual(await mail(pool, id), before);
  });

  test("that comes twice is recorded once", async () => {
    const lease = await claimed(pool);
    const told = { kind: "sent", accepted: [1] };
    assert.equal((await record(pool, lease, told)).applied, "recorded");
    const before = await mail(pool, lease.id);
    assert.equal((await record(pool, lease, told)).applied, "ignored");
    assert.deepEqual(await mail(pool, lease.id), before);
  });

  test("of a mail that is gone is told as gone", async () => {
    const told = await record(
      pool,
      { id: randomUUID(), token: randomUUID() },
      { kind: "sent", accepted: [1] },
    );
    assert.deepEqual([told.applied, told.status], ["gone", null]);
  });

  test("with positions that the mail does not have counts for nothing", async () => {
    const lease = await claimed(pool);
    await record(pool, lease, {
      kind: "retry",
      accepted: [0, -1, 7],
      refused: { 9: { code: 550, enhanced: null, text: "" } },
      error_code: "message_deferred",
    });
    const row = await mail(pool, lease.id);
    assert.deepEqual([row.status, row.delivered_to, row.refused], ["PENDING", [], {}]);
  });

  test("of the worker that lost a race finds who has it, and the other's outcome ends as SENT", async () => {
    const lease = await claimed(pool, TWO);
    await states["SENDING of somebody else"]?.(lease.id);
    await record(pool, lease, { kind: "sent", accepted: [1, 2] });
    const { lease_token, locked_by } = await mail(pool, lease.id);
    assert.deepEqual([lease_token, locked_by], [null, "w2"]);
  });

  test("of the holder with only the rest open, after late news, becomes SENT", async () => {
    const first = await claimed(pool, TWO);
    await states["SENDING of somebody else"]?.(first.id);
    const second = { id: first.id, token: (await mail(pool, first.id)).lease_token ?? "" };
    await record(pool, first, { kind: "sent", accepted: [1] });
    await record(pool, second, { kind: "sent", accepted: [2] });
    assert.deepEqual(
      [(await mail(pool, first.id)).status, (await mail(pool, first.id)).delivered_to],
      ["SENT", ["a@x.test", "b@x.test"]],
    );
  });

  test("that an address was accepted after all takes it out of the refused", async () => {
    const lease = await claimed(pool, TWO);
    await record(pool, lease, {
      kind: "sent",
      accepted: [1],
      refused: { 2: { code: 550, enhanced: null, text: "no" } },
    });
    await record(pool, { id: lease.id, token: randomUUID() }, { kind: "sent", accepted: [2] });
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [row.status, row.delivered_to, row.refused, row.error_code],
      ["SENT", ["a@x.test", "b@x.test"], {}, null],
    );
  });

  test("is recorded together with others, each for itself, with one statement", async () => {
    const leases = [await claimed(pool), await claimed(pool), await claimed(pool)];
    const told = leases.map((lease, n) => ({
      ...lease,
      refund: "no",
      kind: ["sent", "retry", "failed"][n],
      accepted: n === 0 ? [1] : [],
      error_code: n === 0 ? null : "message_deferred",
    }));
    const { rows } = await pool.query("select * from posthaste_private.record_outcomes($1, $2)", [
      JSON.stringify(told),
      JSON.stringify(POLICY),
    ]);
    assert.deepEqual(Object.fromEntries(rows.map(({ id, status }) => [id, status])), {
      [leases[0]!.id]: "SENT",
      [leases[1]!.id]: "PENDING",
      [leases[2]!.id]: "FAILED",
    });
  });

  test("of nothing is no error", async () => {
    assert.equal(
      (await pool.query("select from posthaste_private.record_outcomes('[]', $1)", [JSON.stringify(POLICY)]))
        .rowCount,
      0,
    );
  });
});
