import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import { startScene } from "../faults/scene.ts";

test("a commit wakes the worker: its mail is on the wire long before the next poll", async (t) => {
  const scene = await startScene(t);
  const { log } = await scene.here();
  const waits: number[] = [];
  for (let n = 1; n <= 5; n += 1) {
    const committed = scene.enqueue({ parameters: { n } }).then(() => performance.now());
    await scene.server.reached("mail", n);
    waits.push(performance.now() - (await committed));
  }
  waits.sort((a, b) => a - b);
  assert.ok((waits[2] as number) < 300, `from commit to MAIL FROM: ${waits} ms; it polls each 1,500 ms`);
  assert.equal(log.lines.filter(({ level }) => level === "error").length, 0, log.text);
  await scene.drained();
  await scene.verify();
});

test("mail goes out after the connection that listens was lost", async (t) => {
  const scene = await startScene(t);
  await scene.here();
  const listening = `select pid from pg_stat_activity where datname = current_database() and query ilike 'listen%'`;
  await eventually("somebody listens", async () => (await scene.database.query(listening)).length > 0);
  const lost = await scene.database.query(`select pg_terminate_backend(pid) from (${listening}) l`);
  assert.ok(lost.length > 0);
  const id = await scene.enqueue({ parameters: { n: 1 } });
  await scene.until(id, "SENT", 5_000);
  await scene.verify();
});

test("mail that is due later is sent when its time has come, and not before", async (t) => {
  const scene = await startScene(t);
  await scene.here();
  const [{ at }] = await scene.database.query("select now() + interval '1500 milliseconds' as at");
  const id = await scene.enqueue({ parameters: { n: 1 }, send_at: at });
  const row = await scene.until(id, "SENT");
  assert.ok(row.sent_at >= at, `sent at ${row.sent_at.toISOString()}, due at ${at.toISOString()}`);
  assert.ok(row.sent_at.getTime() < at.getTime() + 2_500);
  await scene.verify();
});

test("two thousand mails of one statement are all sent, each by one attempt", async (t) => {
  const scene = await startScene(t);
  const ids = await scene.enqueueMany(2_000);
  const began = performance.now();
  await scene.here();
  await scene.drained(60_000);
  t.diagnostic(`${ids.length} mails in ${Math.round(performance.now() - began)} ms`);
  const [row] = await scene.database.query(
    `select count(*)::int as mails, (select count(*)::int from posthaste.email_attempts) as attempts, max(attempt_count) as most
     from posthaste.email_messages where status = 'SENT'`,
  );
  assert.deepEqual(row, { mails: ids.length, attempts: ids.length, most: 1 });
  assert.equal(scene.server.accepted.length, ids.length);
  assert.ok(scene.server.sessions.length <= 30, `${scene.server.sessions.length} connections`);
  await scene.verify();
});
