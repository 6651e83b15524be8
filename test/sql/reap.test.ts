import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import {
  attemptsOf,
  claim,
  enqueue,
  type Fields,
  jobsOf,
  later,
  mail,
  POLICY,
  record,
  transaction,
} from "./mails.ts";
import { liveWorker, maintain } from "./workers.ts";

const database = await createTestDatabase();
const { pool } = database;

/** A mail that a worker has claimed, perhaps handed over, perhaps with a lease that ran out. */
async function inFlight(
  worker: string,
  {
    handedOver = false,
    expired = false,
    ...fields
  }: Fields & { handedOver?: boolean; expired?: boolean } = {},
) {
  const id = await enqueue(pool, fields);
  const [row] = await claim(pool, [id], worker);
  const token = row?.lease_token ?? "";
  if (handedOver) await extend(id, token);
  if (expired)
    await pool.query("update posthaste.email_messages set locked_until = now() where id = $1", [id]);
  return { id, token };
}

async function extend(id: string, token: string): Promise<number | null> {
  return (
    await pool.query(
      "select posthaste_private.extend_leases(array[$1::uuid], array[$2::uuid], '60 s', true)",
      [id, token],
    )
  ).rowCount;
}

suite("maintenance ends attempts", () => {
  test("whose lease ran out before the hand-over as crashed: the mail waits again with its job, its attempt given back", async () => {
    const worker = await liveWorker(database, "w1");
    const lease = await inFlight("w1", { expired: true });
    await pool.query("select graphile_worker.remove_job('posthaste:' || $1)", [lease.id]);
    const report = await maintain(database);
    assert.deepEqual([report.ran, report.crashed, report.unknown], [true, 1, 0]);
    const row = await mail(pool, lease.id);
    assert.deepEqual(
      [row.status, row.attempt_count, row.deferral_count, row.error_code, row.possible_duplicate],
      ["PENDING", 0, 1, "worker_crashed", false],
    );
    assert.deepEqual(
      (await attemptsOf(pool, lease.id)).map(({ outcome, error_code }) => [outcome, error_code]),
      [["crashed", "worker_crashed"]],
    );
    assert.equal((await jobsOf(pool, lease.id)).length, 1);
    await worker.die();
  });

  test("whose lease ran out after the hand-over as unknown: it is flagged, and sent again or not as the policy says", async () => {
    const worker = await liveWorker(database, "w1");
    const resend = await inFlight("w1", { expired: true, handedOver: true });
    assert.equal((await maintain(database)).unknown, 1);
    const row = await mail(pool, resend.id);
    assert.deepEqual(
      [row.status, row.error_code, row.possible_duplicate],
      ["PENDING", "outcome_unknown", true],
    );
    assert.deepEqual(
      (await attemptsOf(pool, resend.id)).map(({ outcome, phase }) => [outcome, phase]),
      [["unknown", "final_dot"]],
    );

    const fail = await inFlight("w1", { expired: true, handedOver: true });
    await maintain(database, { policy: { ...POLICY, on_unknown_outcome: "fail" } });
    assert.deepEqual(
      [(await mail(pool, fail.id)).status, (await mail(pool, fail.id)).possible_duplicate],
      ["FAILED", true],
    );
    await worker.die();
  });

  test("by the policy that a live worker publishes for the template, after the one that sent it has died", async () => {
    const templates = [{ name: "login-code", version: "1", on_unknown_outcome: "fail" }];
    const [dead, alive] = [
      await liveWorker(database, "w1", { templates }),
      await liveWorker(database, "w2", { templates }),
    ];
    const lease = await inFlight("w1", { expired: true, handedOver: true, template: "login-code" });
    await dead.die();
    await maintain(database);
    assert.deepEqual(
      [(await mail(pool, lease.id)).status, (await mail(pool, lease.id)).error_code],
      ["FAILED", "outcome_unknown"],
    );
    await alive.die();
  });

  test("of a worker that died: at once what it had not handed over, the rest when its lease runs out", async () => {
    const [dead, alive] = [await liveWorker(database, "w1"), await liveWorker(database, "w2")];
    const begun = await inFlight("w1");
    const handedOver = await inFlight("w1", { handedOver: true });
    const others = await inFlight("w2");
    await maintain(database);
    for (const { id } of [begun, handedOver, others]) assert.equal((await mail(pool, id)).status, "SENDING");

    await dead.die();
    assert.deepEqual(
      [(await maintain(database)).crashed, await statusOf(begun.id, handedOver.id, others.id)],
      [1, ["PENDING", "SENDING", "SENDING"]],
    );
    assert.equal(await extend(begun.id, begun.token), 0, "the zombie may not hand it over");
    assert.equal(await extend(handedOver.id, handedOver.token), 1);

    await pool.query("update posthaste.email_messages set locked_until = now() where id = $1", [
      handedOver.id,
    ]);
    assert.deepEqual(
      [(await maintain(database)).unknown, await statusOf(handedOver.id, others.id)],
      [1, ["PENDING", "SENDING"]],
    );
    await alive.die();
  });

  test("as crashed twice at once and for nothing; the third time spends an attempt", async () => {
    const { id } = await inFlight("nobody", { max_attempts: 2 });
    const seen: unknown[] = [];
    for (let crash = 1; crash <= 4; crash += 1) {
      await maintain(database);
      const row = await mail(pool, id);
      const waits = row.next_attempt_at.getTime() - Date.now() > 5_000;
      seen.push([row.status, row.attempt_count, row.deferral_count, waits]);
      if (crash === 2) assert.equal(await crashesOf(id), 2);
      if (row.status === "PENDING") await claim(pool, [id], "nobody");
    }
    assert.deepEqual(seen, [
      ["PENDING", 0, 1, false],
      ["PENDING", 0, 2, false],
      ["PENDING", 1, 2, false],
      ["FAILED", 2, 2, false],
    ]);
    assert.equal((await mail(pool, id)).error_code, "worker_crashed");
  });

  test("of the last attempt as FAILED, or as SENT when some have the mail", async () => {
    const lease = await inFlight("nobody", { max_attempts: 1 });
    const partly = await inFlight("nobody", { max_attempts: 1, recipients: ["a@x.test", "b@x.test"] });
    for (let given = 0; given < 2; given += 1) {
      await maintain(database);
      assert.equal((await claim(pool, [lease.id, partly.id], "nobody")).length, 2);
    }
    await pool.query("update posthaste.email_messages set delivered_to = '{a@x.test}' where id = $1", [
      partly.id,
    ]);
    await maintain(database);
    assert.deepEqual(
      [(await mail(pool, lease.id)).status, (await mail(pool, lease.id)).error_code],
      ["FAILED", "worker_crashed"],
    );
    const row = await mail(pool, partly.id);
    assert.deepEqual(
      [row.status, Object.keys(row.refused), row.error_code],
      ["SENT", ["b@x.test"], "worker_crashed"],
    );
  });

  test("but not of a mail that is locked at the moment: its outcome is being recorded", async () => {
    const lease = await inFlight("nobody");
    await transaction(pool, async (client) => {
      await record(client, lease, { kind: "sent", accepted: [1] });
      assert.equal((await maintain(database)).crashed, 0);
    });
    assert.equal((await mail(pool, lease.id)).status, "SENT");
  });
});

suite("maintenance forgets", () => {
  test("workers whose connection is gone, with their templates, and keeps the others", async () => {
    const templates = [{ name: "a", version: "1" }];
    const [dead, alive] = [
      await liveWorker(database, "w1", { templates }),
      await liveWorker(database, "w2", { templates }),
    ];
    await dead.die();
    await maintain(database);
    assert.deepEqual(await database.query("select id from posthaste_private.workers"), [{ id: "w2" }]);
    assert.deepEqual(await database.query("select worker_id from posthaste_private.templates"), [
      { worker_id: "w2" },
    ]);
    await alive.die();
  });

  test("transports that no live worker has, unless an operator paused them, and none while nobody lives", async () => {
    const names = async () =>
      (await database.query("select name from posthaste_private.transports order by 1")).map(
        ({ name }) => name,
      );
    const old = await liveWorker(database, "w1", { transports: ["default", "gone", "held"] });
    await pool.query("select posthaste.pause('held', 'x')");
    await old.die();
    await maintain(database);
    assert.deepEqual(await names(), ["default", "gone", "held"]);
    const worker = await liveWorker(database, "w2");
    await maintain(database);
    assert.deepEqual(await names(), ["default", "held"]);
    await worker.die();
  });
});

suite("maintenance gives up", () => {
  test("waiting mail that has expired: FAILED, or SENT when some have it", async () => {
    const id = await enqueue(pool);
    const partly = await inFlight("w1", { recipients: ["a@x.test", "b@x.test"] });
    await record(pool, partly, later({ accepted: [1] }));
    await pool.query("update posthaste.email_messages set expires_at = now() where id = any ($1)", [
      [id, partly.id],
    ]);
    assert.equal((await maintain(database)).expired, 2);
    assert.deepEqual(
      [(await mail(pool, id)).status, (await mail(pool, id)).error_code],
      ["FAILED", "expired"],
    );
    const row = await mail(pool, partly.id);
    assert.deepEqual(
      [row.status, row.delivered_to, row.refused],
      ["SENT", ["a@x.test"], { "b@x.test": { code: null, enhanced: null, text: "expired" } }],
    );
  });

  test("mail that is too old, with its last cause, and keeps younger mail", async () => {
    const [never, tried, young] = [await enqueue(pool), await inFlight("w1"), await enqueue(pool)];
    await record(pool, tried, later({ error_code: "transport_unavailable", error_message: "no route" }));
    await pool.query(
      "update posthaste.email_messages set created_at = now() - interval '6 days', send_at = now() - interval '6 days', next_attempt_at = now() where id = any ($1)",
      [[never, tried.id]],
    );
    assert.equal((await maintain(database)).given_up, 2);
    assert.deepEqual(await statusOf(never, tried.id, young), ["FAILED", "FAILED", "PENDING"]);
    const row = await mail(pool, tried.id);
    assert.deepEqual([row.error_code, row.error_message], ["transport_unavailable", "no route"]);
    assert.equal((await mail(pool, never)).error_code, "expired");
  });

  test("nothing that an open transaction has locked, and does not wait for it", async () => {
    const ids = [await enqueue(pool), await enqueue(pool), await enqueue(pool)];
    await pool.query("update posthaste.email_messages set expires_at = now() where id = any ($1)", [
      ids.slice(0, 2),
    ]);
    await pool.query(
      "update posthaste.email_messages set created_at = now() - interval '6 days', send_at = now() - interval '6 days' where id = $1",
      [ids[2]],
    );
    await transaction(pool, async (client) => {
      await client.query("select from posthaste.email_messages where id = any ($1) for update", [
        ids.slice(1),
      ]);
      const report = await maintain(database);
      assert.deepEqual([report.expired, report.given_up], [1, 0]);
    });
    assert.deepEqual(await statusOf(...ids), ["FAILED", "PENDING", "PENDING"]);
  });
});

async function crashesOf(id: string): Promise<number> {
  const { rows } = await pool.query("select posthaste_private.crashes_of($1) as crashes", [id]);
  return rows[0].crashes;
}

async function statusOf(...ids: string[]): Promise<string[]> {
  return (await Promise.all(ids.map((id) => mail(pool, id)))).map(({ status }) => status);
}
