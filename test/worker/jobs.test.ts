import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startScene } from "../faults/scene.ts";

test("a job that is no job of ours, or of a mail that is gone, ends without a word", async (t) => {
  const scene = await startScene(t);
  const { log } = await scene.here();
  await scene.database.query(`
    select graphile_worker.add_job('posthaste/send_email', payload::json) from (values
      ('{}'), ('[]'), ('{"id": 7}'), ('{"id": "00000000-0000-7000-8000-000000000000"}'), ('{"id": "no uuid"}')) v(payload)`);
  const id = await scene.enqueue({ parameters: { n: 1 } });
  await scene.until(id, "SENT");
  assert.deepEqual(
    log.lines.filter(({ event }) => event === "job_failed"),
    [],
  );
  await scene.verify();
});

// One of them has its worker in this process, where there can be but one.
describe("whatever becomes of the jobs,", { concurrency: 3 }, () => {
  test("mail whose jobs were deleted is sent all the same, once", async (t) => {
    const scene = await startScene(t);
    const ids = await scene.enqueueMany(1_000);
    const deleted = await scene.database.query("delete from graphile_worker._private_jobs returning 1");
    assert.equal(deleted.length, ids.length);
    await scene.here();
    await scene.server.messages(100);
    await scene.database.query("delete from graphile_worker._private_jobs");
    await scene.drained();
    assert.equal(scene.server.accepted.length, ids.length);
    await scene.verify();
  });

  test("mail that has two jobs is sent once", async (t) => {
    const scene = await startScene(t);
    const ids = await scene.enqueueMany(100);
    await scene.database.query(
      "select graphile_worker.add_job('posthaste/send_email', json_build_object('id', id)) from posthaste.email_messages",
    );
    const workers = await Promise.all([scene.process(), scene.process()]);
    await scene.drained();
    assert.equal(scene.server.accepted.length, ids.length);
    for (const worker of workers) {
      worker.kill("SIGTERM");
      assert.deepEqual(await worker.exited, { code: 0, signal: null });
    }
    await scene.verify();
  });

  test("what a killed worker had in flight and what it had fetched ahead is sent by the next one in time", async (t) => {
    const scene = await startScene(t);
    const transports = { default: { url: scene.server.url, connections: 100 } };
    const first = await scene.process({ options: { concurrency: 100, transports } });
    let dots = 0;
    // Of the hundred in flight some wait for the reply to RCPT, and some for the reply to a dot that the server has kept.
    scene.server.script = {
      rcpt: ({ session }) => (session.number <= 100 && session.number % 2 === 0 ? {} : undefined),
      dot: ({ session }) => (session.number <= 100 ? { keep: ++dots % 2 === 0 } : undefined),
    };
    const ids = await scene.enqueueMany(400);
    await Promise.all([scene.server.reached("dot", 50), scene.server.reached("rcpt", 100)]);
    const [{ locked }] = await scene.database.query(
      "select count(*)::int as locked from graphile_worker.jobs where locked_by is not null",
    );
    assert.ok(locked >= 150, `${locked} jobs are with the worker`);
    first.kill("SIGKILL");
    await first.exited;
    const died = performance.now();
    await scene.process({ options: { transports } });
    await scene.drained();
    const took = performance.now() - died;
    t.diagnostic(
      `all ${ids.length} were sent ${Math.round(took)} ms after the death, with a lease of 3,000 ms`,
    );
    const duplicated = await scene.database.query(
      "select id from posthaste.email_messages where possible_duplicate",
    );
    assert.equal(duplicated.length, 50, "those that were handed over, and no others, are flagged");
    const twice = scene.server.accepted.length - ids.length;
    assert.equal(twice, 25, "the server had kept half of these");
    const pairs = new Map<string, number>();
    for (const { messageId } of scene.server.accepted) pairs.set(messageId, (pairs.get(messageId) ?? 0) + 1);
    const rows = await scene.database.query(
      "select id, message_id, recipients[1] as address from posthaste.email_messages order by id",
    );
    await scene.verify({
      duplicated: rows
        .filter((row) => pairs.get(row.message_id) === 2)
        .map((row) => `${row.id} ${row.address}`)
        .sort(),
    });
  });
});
