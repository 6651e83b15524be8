import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../faults/eventually.ts";
import { startOwnDatabase } from "../faults/own-database.ts";
import { type Scene, startScene } from "../faults/scene.ts";

/** Three leases of the scenes. */
const LONG = 9_000;

/** Files of the journal. */
function journalOf(scene: Scene): string[] {
  return existsSync(scene.journal) ? readdirSync(scene.journal) : [];
}

/** A mail that was accepted when its database had just gone: only the journal of its worker knows. */
async function acceptedInBetween(t: TestContext) {
  const database = await startOwnDatabase();
  const scene = await startScene(t, { database });
  scene.server.script.dot = async () => {
    await database.postgres.stop("immediate");
    return undefined;
  };
  const worker = await scene.process();
  const id = await scene.enqueue({ parameters: { n: 1 } });
  await worker.log.line("outcome_kept");
  scene.server.script = {};
  return { database, scene, worker, id };
}

describe("between a worker and its database,", { concurrency: 3 }, () => {
  test("an acceptance outlives a database that is away for three leases: one copy, SENT", async (t) => {
    const { database, scene, id } = await acceptedInBetween(t);
    assert.equal(journalOf(scene).length, 1);
    await delay(LONG);
    await database.postgres.start();
    const row = await scene.until(id, "SENT");
    assert.deepEqual([row.attempt_count, row.possible_duplicate], [1, false]);
    const next = await scene.enqueue({ parameters: { n: 2 } });
    await scene.until(next, "SENT");
    await eventually("the journal is empty", () => journalOf(scene).length === 0);
    await scene.verify();
  });

  test("what a killed worker had in its journal is recorded by the next one before anything is guessed", async (t) => {
    const { database, scene, worker, id } = await acceptedInBetween(t);
    await worker.end();
    await database.postgres.start();
    await database.query(
      "update posthaste.email_messages set locked_until = now() - interval '1 hour' where id = $1",
      [id],
    );
    const second = await scene.process();
    await second.log.line("outcomes_replayed");
    const row = await scene.until(id, "SENT");
    assert.deepEqual([row.attempt_count, row.possible_duplicate], [1, false]);
    assert.deepEqual(journalOf(scene), []);
    await scene.verify();
  });

  test("a database that crashes and comes back loses no mail, and the worker goes on by itself", async (t) => {
    const database = await startOwnDatabase();
    const scene = await startScene(t, { database });
    await scene.process();
    const ids = await scene.enqueueMany(400);
    for (const count of [50, 150]) {
      await scene.server.messages(count);
      await database.postgres.stop("immediate");
      await database.postgres.start();
    }
    const back = performance.now();
    const id = await scene.enqueue({ parameters: { n: 0 } });
    await scene.until(id, "SENT", 60_000);
    const took = performance.now() - back;
    t.diagnostic(`a mail is through ${Math.round(took)} ms after the database is back`);
    await scene.drained();
    assert.ok(scene.server.accepted.length >= ids.length + 1);
    const [{ flagged }] = await database.query(
      "select count(*)::int as flagged from posthaste.email_messages where possible_duplicate",
    );
    // Whatever the server took is known to the process, which lives: a crash of the database costs no second copy.
    assert.equal(flagged, 0);
    await scene.verify();
  });

  test("connections that are cut again and again cost no mail and no second copy", async (t) => {
    const scene = await startScene(t);
    await scene.process();
    const ids = await scene.enqueueMany(400);
    for (const count of [20, 100, 200, 300]) {
      await scene.server.messages(count);
      await scene.database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'test'",
      );
    }
    await scene.drained();
    assert.equal(scene.server.accepted.length, ids.length);
    await scene.verify();
  });

  test("two workers share the mail, and none is sent twice", async (t) => {
    const scene = await startScene(t);
    const workers = await Promise.all([scene.process(), scene.process()]);
    const ids = await scene.enqueueMany(400);
    await scene.drained();
    assert.equal(scene.server.accepted.length, ids.length);
    for (const worker of workers) {
      worker.kill("SIGTERM");
      await worker.exited;
      assert.ok(worker.log.lines.some(({ event }) => event === "email_sent"));
    }
    const [{ by }] = await scene.database.query(
      "select count(distinct worker)::int as by from posthaste.email_attempts",
    );
    assert.equal(by, 2);
    await scene.verify();
  });

  test("a worker refuses a database of another environment, and stops claiming when it becomes one", async (t) => {
    const scene = await startScene(t);
    const stranger = await scene.process({ options: { environment: "staging" }, started: false });
    assert.deepEqual(await stranger.exited, { code: 1, signal: null });
    assert.match(
      stranger.log.text,
      /environment_mismatch: the database is "production" and the configuration "staging"/,
    );
    await scene.here();
    await scene.until(await scene.enqueue({ parameters: { n: 1 } }), "SENT");
    await scene.database.query(`select posthaste.configure('environment', '"staging"')`);
    const id = await scene.enqueue({ parameters: { n: 2 } });
    await eventually("its job has ended", async () => {
      const jobs = await scene.database.query(
        "select from graphile_worker.jobs where key = $1 and attempts = 0",
        [`posthaste:${id}`],
      );
      return jobs.length === 0;
    });
    assert.equal((await scene.row(id)).status, "PENDING");
    assert.equal(scene.server.accepted.length, 1);
  });
});
