import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { RetentionSettings } from "../../src/config.ts";
import { createRetention } from "../../src/database/retention.ts";
import { cronItems } from "../../src/worker/crontab.ts";
import { type Purged, purge } from "../../src/worker/purge.ts";
import { createTestDatabase } from "../database.ts";
import { eventually } from "../faults/eventually.ts";
import { startScene } from "../faults/scene.ts";
import { aged } from "../sql/aged.ts";

const DAY = 86_400_000;
const KEPT: RetentionSettings = {
  sent: 90 * DAY,
  failed: 180 * DAY,
  cancelled: 30 * DAY,
  mode: "delete",
  keys: 90 * DAY,
  budget: 60_000,
};
const deleteFile = async () => undefined;
const countOf = async (database: { query(text: string): Promise<{ count: number }[]> }, where = "true") =>
  (await database.query(`select count(*)::int as count from posthaste.email_messages where ${where}`))[0]
    ?.count;

test("a purge removes each state at its age, and keeps for ever what is to be kept", async (t) => {
  const database = await createTestDatabase(t);
  const retention = createRetention(database.pool);
  await aged(database.pool, 700, 91, "SENT");
  await aged(database.pool, 30, 31, "CANCELLED");
  await aged(database.pool, 20, 181, "FAILED");
  await aged(database.pool, 10, 89, "SENT");
  await aged(database.pool, 10, 1000, "PENDING");
  const kept = await purge(retention, { ...KEPT, sent: null }, { deleteFile });
  assert.deepEqual(kept.emails, { SENT: 0, FAILED: 20, CANCELLED: 30 });
  const told: Purged["emails"][] = [];
  const purged = await purge(retention, KEPT, {
    deleteFile,
    onProgress: ({ emails }) => told.push({ ...emails }),
  });
  assert.deepEqual([purged.emails, purged.complete], [{ SENT: 700, FAILED: 0, CANCELLED: 0 }, true]);
  assert.ok(told.length > 1 && told.at(-1)?.SENT === 700);
  assert.equal(await countOf(database), 20);
  const [state] = await database.query("select * from posthaste_private.purges");
  assert.deepEqual([state.complete, state.removed, state.ended_at !== null], [true, { SENT: 700 }, true]);
});

test("a purge that is killed half-way has kept nothing half: the next one goes on", async (t) => {
  const database = await createTestDatabase(t);
  await aged(database.pool, 2000, 400);
  const client = await database.pool.connect();
  // As a killed process: its backend ends in the middle of a step, and nobody tells anything.
  const [{ pid }] = (await client.query("select pg_backend_pid() as pid")).rows;
  let steps = 0;
  const half = createRetention({
    query: async (text: string, values: unknown[]) => {
      if (text.includes("posthaste_private.purge(") && ++steps === 3)
        await database.query("select pg_terminate_backend($1)", [pid]);
      return client.query(text, values);
    },
  } as unknown as typeof database.pool);
  client.on("error", () => undefined);
  await assert.rejects(purge(half, { ...KEPT, mode: "archive" }, { deleteFile }));
  client.release(true);
  const left = (await countOf(database)) as number;
  const archived = async () =>
    (await database.query("select count(*)::int as count from posthaste.email_archive"))[0].count;
  assert.ok(left > 0 && left < 2000);
  assert.equal(left + (await archived()), 2000);
  const purged = await purge(createRetention(database.pool), { ...KEPT, mode: "archive" }, { deleteFile });
  assert.deepEqual([purged.emails.SENT, purged.complete], [left, true]);
  assert.deepEqual([await countOf(database), await archived()], [0, 2000]);
});

test("a purge ends when its time is over, and says that there is more", async (t) => {
  const database = await createTestDatabase(t);
  await aged(database.pool, 500, 400);
  const over = await purge(createRetention(database.pool), { ...KEPT, budget: 0 }, { deleteFile });
  assert.deepEqual([over.complete, over.emails.SENT], [false, 0]);
  const stop = new AbortController();
  const stopped = await purge(createRetention(database.pool), KEPT, {
    deleteFile,
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  assert.deepEqual([stopped.complete, stopped.emails.SENT], [false, 250], "one step");
});

test("owned files go after their mail, also when the store fails at first, and when they are gone already", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-files-"));
  t.after(() => rm(folder, { recursive: true }));
  const scene = await startScene(t, { options: { stores: { reports: { folder } } } });
  const { database } = scene;
  await mkdir(join(folder, "2026"));
  await writeFile(join(folder, "2026/a.pdf"), "a");
  await writeFile(join(folder, "terms.pdf"), "terms");
  const [{ ref }] = await database.query(
    "select posthaste.put_file('b.pdf', 'application/pdf', 'b'::bytea) as ref",
  );
  const [id] = await aged(database.pool, 1, 400);
  const refs = ["reports:2026/a.pdf", "reports:2026/never.pdf", "reports:terms.pdf", "gone:x.pdf", ref];
  const attachments = refs.map((storage_ref) => ({
    filename: "a.pdf",
    content_type: "application/pdf",
    storage_ref,
    owned: storage_ref !== "reports:terms.pdf",
  }));
  await database.query("update posthaste.email_messages set attachments = $2 where id = $1", [
    id,
    JSON.stringify(attachments),
  ]);
  const { worker, log } = await scene.here();
  worker.engine.purge();
  assert.equal((await log.line("purge_done")).count, 1);
  assert.equal((await log.line("files_kept")).count, 1, "a store that this worker does not have");
  assert.deepEqual(
    [existsSync(join(folder, "2026/a.pdf")), existsSync(join(folder, "terms.pdf"))],
    [false, true],
  );
  assert.deepEqual(await database.query("select from posthaste.files"), []);
  assert.deepEqual(await database.query("select storage_ref, failures from posthaste_private.orphan_files"), [
    { storage_ref: "gone:x.pdf", failures: 1 },
  ]);
  await eventually("another purge is asked for in an hour", async () => {
    const [job] = await database.query(
      "select extract(epoch from run_at - now())::int as seconds from graphile_worker.jobs where key = 'posthaste:purge'",
    );
    return job && job.seconds > 3500 && job.seconds <= 3600;
  });
});

test("a purge that is due runs once however many workers there are, before a backlog of mail", async (t) => {
  const scene = await startScene(t);
  const { database } = scene;
  await aged(database.pool, 300, 400);
  await database.query("select posthaste_private.request_purge('0') from generate_series(1, 5)");
  const [job] = await database.query(
    "select count(*)::int as count, max(priority) as priority from graphile_worker.jobs where task_identifier = 'posthaste/purge_emails'",
  );
  assert.deepEqual(job, { count: 1, priority: -100 });
  const workers = [await scene.process(), await scene.process()];
  await eventually("the old mail is gone", async () => (await countOf(database)) === 0);
  await eventually("it has been told", async () =>
    workers.some(({ log }) => log.text.includes("purge_done")),
  );
  const told = workers.flatMap(({ log }) =>
    log.text.split("\n").filter((line) => line.includes('"purge_done"')),
  );
  assert.deepEqual(
    told.map((line) => JSON.parse(line).count),
    [300],
  );
});

test("a worker that stops in the middle of a purge ends soon and leaves the rest to another", async (t) => {
  const scene = await startScene(t);
  const { database } = scene;
  await aged(database.pool, 5000, 400);
  const { worker, log, stop } = await scene.here();
  worker.engine.purge();
  await eventually("it has begun", async () => ((await countOf(database)) as number) < 5000);
  await stop();
  assert.ok(((await countOf(database)) as number) > 0);
  assert.ok(log.text.includes('"purge_cut_short"'));
  const jobs = await database.query("select key from graphile_worker.jobs where key = 'posthaste:purge'");
  assert.equal(jobs.length, 1);
});

test("claims, retries and purges of the same mail at the same time lose none and delete none that waits", async (t) => {
  const scene = await startScene(t);
  const { database } = scene;
  // FAILED mail that is old enough: an operator retries half of it while it goes, and a worker sends what is retried.
  const ids = await aged(database.pool, 400, 400, "FAILED", {
    template: "'plain'",
    parameters: "'{\"n\": 1}'",
  });
  await scene.here();
  const retried = new Set<string>();
  const operator = async () => {
    for (const id of ids) {
      const done = await database
        .query("select posthaste.retry($1)", [id])
        .catch((error: { code?: string }) => error);
      if (Array.isArray(done)) retried.add(id);
      else assert.ok(["PH020", "PH021"].includes(done.code ?? ""), `${done}`);
    }
  };
  const retention = createRetention(database.pool);
  const removed: number[] = [];
  const purges = async () => {
    while (removed.length < 40) {
      const rule = { status: "FAILED", age: 180 * DAY, archive: false, keepKeys: DAY } as const;
      const first = { at: "-infinity", id: "00000000-0000-0000-0000-000000000000" };
      removed.push((await retention.step(rule, first, 5)).removed);
    }
  };
  await Promise.all([operator(), purges(), purges()]);
  await scene.drained();
  const deleted = removed.reduce((sum, count) => sum + count, 0);
  assert.ok(deleted > 0 && retried.size > 0, `${deleted} deleted, ${retried.size} retried`);
  assert.equal(deleted + ((await countOf(database)) as number), 400);
  assert.equal(await countOf(database, "status = 'SENT'"), retried.size);
  assert.equal(scene.server.accepted.length, retried.size);
});

test("the purge is in the crontab of a worker, besides the application's own lines, one of which may choose its time", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-crontab-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "crontab");
  const tasks = async () => (await cronItems(file)).map(({ task, options }) => [task, options.priority]);
  assert.deepEqual(await tasks(), [["posthaste/purge_emails", -100]]);
  await writeFile(file, "0 4 * * * clean_up\n");
  assert.deepEqual(await tasks(), [
    ["clean_up", undefined],
    ["posthaste/purge_emails", -100],
  ]);
  await writeFile(file, "0 4 * * 0 posthaste/purge_emails ?priority=5\n");
  assert.deepEqual(await tasks(), [["posthaste/purge_emails", 5]]);
});
