import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { enqueue, errorOf, jobsOf, mail, transaction } from "./mails.ts";
import { listenForJobs } from "./notifications.ts";
import { liveWorker, maintain } from "./workers.ts";

const database = await createTestDatabase();
const { pool } = database;

/** Takes all mail and jobs away, and lets both walks begin anew behind what is due now. */
async function clean(): Promise<void> {
  await pool.query("truncate posthaste.email_messages, graphile_worker._private_jobs cascade");
  await pool.query(
    "update posthaste_private.maintenance set ran_at = '-infinity', horizon_at = now() + interval '60 seconds', cursor_at = '-infinity'",
  );
}

async function enqueueMany(count: number, fields = "'news', '{a@x.test}'"): Promise<string[]> {
  const rows = await database.query(
    `insert into posthaste.email_messages (template, recipients) select ${fields} from generate_series(1, $1::int) returning id`,
    [count],
  );
  return rows.map(({ id }) => id);
}

const dropJobs = () => pool.query("truncate graphile_worker._private_jobs");

async function jobCount(): Promise<number> {
  return (await database.query("select count(*)::int as count from graphile_worker.jobs"))[0].count;
}

suite("maintenance adds the job", () => {
  test("of a mail when its time comes near, once", async () => {
    await clean();
    const id = await enqueue(pool, { send_at: new Date(Date.now() + 3_600_000) });
    assert.deepEqual([(await maintain(database)).scheduled, await jobCount()], [0, 0]);
    // An hour passes: seen from the mail, the horizon has come closer.
    await pool.query("update posthaste.email_messages set next_attempt_at = now() + interval '50 seconds'");
    await pool.query("update posthaste_private.maintenance set horizon_at = now()");
    assert.equal((await maintain(database)).scheduled, 1);
    assert.deepEqual((await jobsOf(pool, id))[0].run_at, (await mail(pool, id)).next_attempt_at);
    assert.equal((await maintain(database)).scheduled, 0);
  });

  test("again of due mail whose job was deleted, is used up, or is locked by a pool that has died", async () => {
    await clean();
    const worker = await liveWorker(database, "w1");
    await worker.beat("pool-alive");
    const ids = await enqueueMany(6);
    const [deleted, usedUp, stranded, running, retrying] = ids as [string, string, string, string, string];
    const change = (id: string, set: string) =>
      pool.query(`update graphile_worker._private_jobs set ${set} where key = 'posthaste:' || $1`, [id]);
    await pool.query("select graphile_worker.remove_job('posthaste:' || $1)", [deleted]);
    await change(usedUp, "attempts = max_attempts");
    await change(stranded, "locked_by = 'pool-dead', locked_at = now(), attempts = 1");
    await change(running, "locked_by = 'pool-alive', locked_at = now(), attempts = 1");
    await change(retrying, "attempts = 3");
    const jobs = await listenForJobs(pool);
    const report = await maintain(database);
    assert.deepEqual([report.readded, report.more], [3, false]);
    assert.equal(await jobs.count(), 1, "one notification for all");
    await jobs.close();
    for (const id of [deleted, usedUp, stranded]) {
      const fresh = (await jobsOf(pool, id)).filter(
        ({ locked_by, attempts }) => locked_by === null && attempts === 0,
      );
      assert.equal(fresh.length, 1);
    }
    assert.equal((await maintain(database)).readded, 0);
    await worker.die();
  });

  test("of nothing, and notifies nobody, when nothing is missing", async () => {
    await clean();
    await enqueueMany(20);
    const jobs = await listenForJobs(pool);
    const report = await maintain(database);
    assert.deepEqual([report.readded, report.scheduled, report.more, await jobs.count()], [0, 0, false, 0]);
    await jobs.close();
  });

  test("of each of many mails that are due at one and the same time, in batches, and begins anew at the end", async () => {
    await clean();
    await enqueueMany(250);
    await dropJobs();
    const runs = [];
    for (let n = 0; n < 3; n++) runs.push(await maintain(database, { batch: 100 }));
    assert.deepEqual(
      runs.map(({ readded, more }) => [readded, more]),
      [
        [100, true],
        [100, true],
        [50, false],
      ],
    );
    const [{ keys }] = await database.query(
      "select count(distinct key)::int as keys from graphile_worker.jobs",
    );
    assert.equal(keys, 250);
    await dropJobs();
    assert.equal((await maintain(database, { batch: 100 })).readded, 100, "from the beginning again");
  });

  test("of mail that comes near, in batches too, past many with one time", async () => {
    await clean();
    await pool.query(
      "insert into posthaste.email_messages (template, recipients, send_at) select 'news', '{a@x.test}', now() + interval '70 s' from generate_series(1, 250)",
    );
    assert.equal(await jobCount(), 0);
    await pool.query("update posthaste.email_messages set next_attempt_at = now() + interval '30 s'");
    await pool.query("update posthaste_private.maintenance set horizon_at = now()");
    const runs = [];
    for (let n = 0; n < 4; n++) runs.push(await maintain(database, { batch: 100 }));
    assert.deepEqual(
      runs.map(({ scheduled, more }) => [scheduled, more]),
      [
        [100, true],
        [100, true],
        [50, false],
        [0, false],
      ],
    );
    assert.equal(await jobCount(), 250);
  });

  test("of a mail whose transaction was open while the horizon passed it", async () => {
    await clean();
    const client = await pool.connect();
    await client.query("begin");
    const late = await enqueue(client, { send_at: new Date(Date.now() + 61_000) });
    await enqueueMany(3);
    await pool.query("update posthaste_private.maintenance set horizon_at = now() + interval '90 s'");
    await maintain(database);
    await client.query("commit");
    client.release();
    await pool.query("update posthaste.email_messages set next_attempt_at = now() where id = $1", [late]);
    assert.equal((await maintain(database)).readded, 1);
    assert.equal((await jobsOf(pool, late)).length, 1);
  });

  test("of no mail of a stopped transport; after resume in growing numbers, twice as many each time", async () => {
    await clean();
    await pool.query("select posthaste.pause('default', 'x')");
    await pool.query(
      `insert into posthaste_private.settings values ('default_transport', '"default"') on conflict (name) do update set value = excluded.value`,
    );
    await enqueueMany(100);
    assert.deepEqual([(await maintain(database)).readded, await jobCount()], [0, 0]);
    await pool.query("select posthaste.resume('default')");
    const added = [];
    for (let n = 0; n < 4; n++) added.push((await maintain(database, { batch: 80 })).readded);
    assert.deepEqual(added, [20, 40, 40, 0]);
    for (let n = 0; n < 3; n++) await maintain(database, { batch: 80 });
    assert.deepEqual(
      await database.query("select allowance from posthaste_private.transports where name = 'default'"),
      [{ allowance: null }],
    );
  });
});

suite("two runs of maintenance", () => {
  test("at the same time are one, and the others go away at once", async () => {
    await clean();
    const reports = await Promise.all(
      Array.from({ length: 8 }, () => maintain(database, { pause: "1 minute" })),
    );
    assert.deepEqual(reports.filter(({ ran }) => ran).length, 1);
    assert.deepEqual(
      reports.find(({ ran }) => !ran),
      { ran: false },
    );
  });

  test("do not wait for one that is under way", async () => {
    await clean();
    await transaction(pool, async (client) => {
      await client.query("select from posthaste_private.maintenance for update");
      assert.deepEqual(await maintain(database), { ran: false });
    });
    assert.equal((await maintain(database)).ran, true);
  });

  test("keep the pause between them", async () => {
    await clean();
    assert.equal((await maintain(database, { pause: "15 seconds" })).ran, true);
    assert.equal((await maintain(database, { pause: "15 seconds" })).ran, false);
    await pool.query("update posthaste_private.maintenance set ran_at = now() - interval '15 seconds'");
    assert.equal((await maintain(database, { pause: "15 seconds" })).ran, true);
  });

  test("have one row to agree on, and no second can be made", async () => {
    assert.equal(
      (await errorOf(pool.query("insert into posthaste_private.maintenance default values"))).code,
      "23505",
    );
  });
});
