import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { enqueue, errorOf, mail } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

/** The columns that a row must have in each state. */
const SHAPES = {
  PENDING: "lease_token = null, locked_until = null, sent_at = null, finished_at = null",
  SENDING: "lease_token = gen_random_uuid(), locked_until = now(), sent_at = null, finished_at = null",
  SENT: "lease_token = null, locked_until = null, sent_at = now(), finished_at = now()",
  FAILED: "lease_token = null, locked_until = null, sent_at = null, finished_at = now()",
  CANCELLED: "lease_token = null, locked_until = null, sent_at = null, finished_at = now()",
};
type Status = keyof typeof SHAPES;
const STATES = Object.keys(SHAPES) as Status[];

const CHART: Record<Status, Status[]> = {
  PENDING: ["SENDING", "SENT", "FAILED", "CANCELLED"],
  SENDING: ["PENDING", "SENT", "FAILED"],
  SENT: [],
  FAILED: ["PENDING", "SENT"],
  CANCELLED: ["SENT"],
};

const WAYS: Record<Status, Status[]> = {
  PENDING: [],
  SENDING: ["SENDING"],
  SENT: ["SENT"],
  FAILED: ["FAILED"],
  CANCELLED: ["CANCELLED"],
};

function go(id: string, to: Status) {
  return pool.query(`update posthaste.email_messages set status = $2, ${SHAPES[to]} where id = $1`, [id, to]);
}

async function mailIn(state: Status): Promise<string> {
  const id = await enqueue(pool);
  for (const step of WAYS[state]) await go(id, step);
  return id;
}

suite("a direct update of the status by the owner", () => {
  for (const from of STATES) {
    for (const to of STATES.filter((state) => state !== from)) {
      const allowed = CHART[from].includes(to);
      test(`from ${from} to ${to} is ${allowed ? "a step of the chart" : "refused"}`, async () => {
        const id = await mailIn(from);
        if (allowed) {
          await go(id, to);
        } else {
          const error = await errorOf(go(id, to));
          assert.deepEqual(
            [error.code, error.message],
            ["PH040", `an email cannot go from ${from} to ${to}`],
          );
        }
        assert.equal((await mail(pool, id)).status, allowed ? to : from);
      });
    }
  }

  test("to a word that is no status is refused", async () => {
    const id = await mailIn("PENDING");
    const error = await errorOf(
      pool.query("update posthaste.email_messages set status = 'DONE' where id = $1", [id]),
    );
    assert.equal(error.code, "PH040");
  });

  test("to the same status is no step", async () => {
    for (const state of STATES) {
      const id = await mailIn(state);
      await pool.query("update posthaste.email_messages set status = status where id = $1", [id]);
      assert.equal((await mail(pool, id)).status, state);
    }
  });
});

suite("a row cannot be", () => {
  const wrong: [string, string, string][] = [
    ["SENDING without a lease", "status = 'SENDING'", "lease_only_while_sending"],
    [
      "PENDING with a lease",
      "lease_token = gen_random_uuid(), locked_until = now()",
      "lease_only_while_sending",
    ],
    [
      "SENDING without an end of its lease",
      "status = 'SENDING', lease_token = gen_random_uuid()",
      "lease_only_while_sending",
    ],
    ["FAILED without an end", "status = 'FAILED'", "finished_only_in_an_end_state"],
    ["PENDING with an end", "finished_at = now()", "finished_only_in_an_end_state"],
    ["SENT without its time", "status = 'SENT', finished_at = now()", "sent_at_only_when_sent"],
    ["PENDING with a time of sending", "sent_at = now()", "sent_at_only_when_sent"],
    ["over its attempts", "attempt_count = max_attempts + 1", "attempts_within_limit"],
    ["below zero attempts", "attempt_count = -1", "attempts_within_limit"],
    ["below zero deferrals", "deferral_count = -1", "attempts_within_limit"],
  ];
  for (const [what, set, constraint] of wrong) {
    test(what, async () => {
      const id = await mailIn("PENDING");
      const error = await errorOf(
        pool.query(`update posthaste.email_messages set ${set} where id = $1`, [id]),
      );
      assert.equal(error.constraint, constraint);
    });
  }
});
