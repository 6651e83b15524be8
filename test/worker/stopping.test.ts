import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import { startScene } from "../faults/scene.ts";

/** A reply that the test gives when it wants to. */
function held() {
  let give: () => void = () => {};
  const given = new Promise<undefined>((resolve) => {
    give = () => resolve(undefined);
  });
  return { given, give: () => give() };
}

describe("a worker that is told to stop", { concurrency: 3 }, () => {
  test("ends what is under way, gives back what was not begun, and exits with 0", async (t) => {
    const scene = await startScene(t);
    const reply = held();
    scene.server.script.dot = () => reply.given;
    const worker = await scene.process({ options: { concurrency: 2 } });
    const ids = await scene.enqueueMany(20);
    await scene.server.reached("dot", 2);
    worker.kill("SIGTERM");
    await worker.log.line("worker_stopping");
    reply.give();
    assert.deepEqual(await worker.exited, { code: 0, signal: null });
    const rows = await scene.database.query(
      "select status, attempt_count from posthaste.email_messages where status <> 'PENDING' or attempt_count > 0",
    );
    assert.equal(rows.length, scene.server.accepted.length);
    assert.ok(rows.every(({ status }) => status === "SENT"));
    assert.ok(rows.length >= 2 && rows.length < 10, `${rows.length} were sent`);
    const locked = await scene.database.query("select from graphile_worker.jobs where locked_by is not null");
    assert.equal(locked.length, 0, "no job is left with a worker that is gone");
    assert.deepEqual(
      worker.log.lines.filter(({ level }) => level === "error"),
      [],
    );
    scene.server.script = {};
    await scene.process();
    await scene.drained();
    assert.equal(scene.server.accepted.length, ids.length);
    await scene.verify();
  });

  test("gives back, at no cost, what was not handed over when its time is up; the rest is known to be unknown", async (t) => {
    const scene = await startScene(t);
    scene.server.script = {
      dot: ({ session }) => (session.commands.some((line) => line.includes("dot@")) ? {} : undefined),
      rcpt: ({ address }) => (address.startsWith("rcpt") ? {} : undefined),
    };
    const worker = await scene.process({ options: { shutdownGrace: "200ms" } });
    const before = await scene.enqueue({ recipient: "rcpt@customer.example", parameters: { n: 1 } });
    const after = await scene.enqueue({ recipient: "dot@customer.example", parameters: { n: 2 } });
    await Promise.all([scene.server.reached("dot"), scene.server.reached("rcpt", 2)]);
    worker.kill("SIGTERM");
    assert.deepEqual(await worker.exited, { code: 0, signal: null });
    const released = await scene.row(before);
    assert.deepEqual(
      [released.status, released.attempt_count, released.deferral_count, released.possible_duplicate],
      ["PENDING", 0, 0, false],
    );
    const unknown = await scene.row(after);
    assert.deepEqual(
      [unknown.status, unknown.attempt_count, unknown.error_code, unknown.possible_duplicate],
      ["PENDING", 1, "outcome_unknown", true],
    );
    scene.server.script = {};
    await scene.process();
    await scene.drained();
    const outcomes = (await scene.attempts(before)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ["released", "sent"]);
    await scene.verify();
  });

  test("stops at once when it has nothing to do, and when it is told twice", async (t) => {
    const scene = await startScene(t);
    const idle = await scene.process({ options: { shutdownGrace: "1h" } });
    idle.kill("SIGTERM");
    assert.deepEqual(await idle.exited, { code: 0, signal: null });

    scene.server.script.dot = {};
    const busy = await scene.process({ options: { shutdownGrace: "1h" } });
    await scene.enqueue({ parameters: { n: 1 } });
    await scene.server.reached("dot");
    busy.kill("SIGTERM");
    await busy.log.line("worker_stopping");
    busy.kill("SIGTERM");
    assert.deepEqual(await busy.exited, { code: 1, signal: null });
  });

  test("stops while the database is away, and keeps what it knows for the next one", async (t) => {
    const scene = await startScene(t);
    const worker = await scene.process();
    scene.server.script.dot = async () => {
      await scene.database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'test'",
      );
      worker.kill("SIGTERM");
      return undefined;
    };
    const id = await scene.enqueue({ parameters: { n: 1 } });
    assert.deepEqual(await worker.exited, { code: 0, signal: null });
    await scene.process();
    const row = await scene.until(id, "SENT");
    assert.equal(row.possible_duplicate, false);
    assert.equal(scene.server.accepted.length, 1);
    await scene.verify();
  });

  test("ends its process also when Graphile Worker died meanwhile and could not say so", async (t) => {
    const scene = await startScene(t);
    const worker = await scene.process();
    const reply = held();
    const locking = await scene.database.pool.connect();
    await locking.query("begin");
    let dots = 0;
    // One mail is held, so that its pool waits for it when it dies. The other one's acceptance locks the jobs: from the
    // claim on nothing needs them but the end of its job, and a connection that is lost there ends the pool.
    scene.server.script.dot = async () => {
      dots += 1;
      if (dots === 1) return reply.given;
      await locking.query("lock table graphile_worker._private_jobs in share mode");
      return undefined;
    };
    const first = await scene.enqueue({ parameters: { n: 1 } });
    await scene.server.reached("dot");
    const second = await scene.enqueue({ parameters: { n: 2 } });
    await eventually("the end of the job is cut", async () => {
      const cut = await scene.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'posthaste jobs' and wait_event_type = 'Lock' and query ~ 'delete'`,
      );
      return cut.length > 0;
    });
    await locking.query("rollback");
    locking.release();
    await worker.log.line("worker_restarted");
    reply.give();
    for (const id of [first, second]) await scene.until(id, "SENT");
    worker.kill("SIGTERM");
    const exit = await Promise.race([worker.exited, once(AbortSignal.timeout(10_000), "abort")]);
    assert.deepEqual(exit, { code: 0, signal: null });
    await scene.verify();
  });
});
