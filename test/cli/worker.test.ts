import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import { openShop } from "./shop.ts";

test("worker --once sends what is due, leaves what is due later, and ends", async (t) => {
  const shop = await openShop(t);
  const due = [await shop.enqueue(), await shop.enqueue("", "bob@customer.example")];
  const later = await shop.enqueue("send_at => now() + interval '1 hour'");
  const run = await shop.run("worker", "--once");
  assert.deepEqual([run.code, run.stdout], [0, ""], run.stderr);
  for (const id of due) assert.equal((await shop.row(id)).status, "SENT");
  assert.equal((await shop.row(later)).status, "PENDING");
  assert.equal(shop.server.accepted.length, 2);
  assert.doesNotMatch(run.stderr, /customer\.example|secret-value/);
});

test("worker --once with nothing to do ends", async (t) => {
  const shop = await openShop(t);
  const run = await shop.run("worker", "--once");
  assert.deepEqual([run.code, shop.server.sessions.length], [0, 0], run.stderr);
});

test("worker --once ends although mail cannot be sent now: that mail waits for a later time", async (t) => {
  const shop = await openShop(t, { options: "breaker: { failures: 2 }" });
  const deferred = await shop.enqueue("", "later@customer.example");
  const unknown = await shop.enqueue("transport => 'elsewhere'");
  shop.server.script = {
    rcpt: ({ address }) => (address.startsWith("later") ? "450 4.2.0 come back later" : undefined),
  };
  const run = await shop.run("worker", "--once");
  assert.equal(run.code, 0, run.stderr);
  for (const id of [deferred, unknown]) {
    const { status, next_attempt_at } = await shop.row(id);
    assert.equal(status, "PENDING");
    assert.ok(next_attempt_at > new Date());
  }
});

test("a mail server that serves again is found by worker --once alone", async (t) => {
  const shop = await openShop(t, {
    options:
      'breaker: { failures: 1, probe: "10ms", maxProbe: "20ms" }, retry: { delays: ["10ms"] }, maintenanceInterval: "1s"',
  });
  const ids = [await shop.enqueue(), await shop.enqueue()];
  shop.server.script = { greeting: { reply: "421 4.3.2 closing", end: "close" } };
  assert.equal((await shop.run("worker", "--once")).code, 0);
  const stopped = await shop.run("status");
  assert.match(stopped.stdout, /^Transport default is stopped since .*421 4\.3\.2 closing/m);
  assert.equal(stopped.code, 1);
  shop.server.script = {};
  await shop.database.query("update posthaste_private.transports set next_probe_at = now()");
  const run = await shop.run("worker", "--once");
  assert.equal(run.code, 0, run.stderr);
  for (const id of ids) assert.equal((await shop.row(id)).status, "SENT", run.stderr);
});

test("worker sends until SIGTERM, then ends with exit code 0", async (t) => {
  const shop = await openShop(t);
  const worker = shop.start("worker");
  await worker.said(/"worker_started"/);
  const id = await shop.enqueue();
  await shop.server.nextMessage();
  await eventually("it is SENT", async () => (await shop.row(id)).status === "SENT");
  worker.child.kill("SIGTERM");
  assert.equal(await worker.ended, 0);
  assert.match(worker.stderr, /"worker_stopped"/);
});

test("SIGTERM during a send: the send ends, the row is SENT, exit code 0", async (t) => {
  const shop = await openShop(t);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  shop.server.script = { dot: () => released.then(() => undefined) };
  const id = await shop.enqueue();
  const worker = shop.start("worker");
  await shop.server.reached("dot");
  worker.child.kill("SIGTERM");
  await worker.said(/"worker_stopping"/);
  release();
  assert.equal(await worker.ended, 0);
  assert.equal((await shop.row(id)).status, "SENT");
});

test("SIGTERM during a send that stalls: the mail goes back unharmed, no row stays SENDING, exit code 0", async (t) => {
  const shop = await openShop(t, { options: 'shutdownGrace: "200ms"' });
  shop.server.script = { rcpt: {} };
  const id = await shop.enqueue();
  const worker = shop.start("worker");
  await shop.server.reached("rcpt");
  worker.child.kill("SIGTERM");
  assert.equal(await worker.ended, 0);
  const { status, attempt_count } = await shop.row(id);
  assert.deepEqual([status, attempt_count], ["PENDING", 0]);
  const sending = await shop.database.query("select from posthaste.email_messages where status = 'SENDING'");
  assert.equal(sending.length, 0);
});

test("a signal that comes while the worker starts ends it in good order", async (t) => {
  const shop = await openShop(t);
  const worker = shop.start("worker");
  await worker.said(/"templates_loaded"/);
  worker.child.kill("SIGINT");
  assert.equal(await worker.ended, 0);
  assert.match(worker.stderr, /"worker_stopped"/);
});

test("start installs the schema and sends", async (t) => {
  const shop = await openShop(t, { empty: true });
  const process = shop.start("start");
  await process.said(/"worker_started"/);
  await shop.enqueue();
  await shop.server.nextMessage();
  process.child.kill("SIGTERM");
  assert.equal(await process.ended, 0);
});

test("a worker may send more mails at once than Graphile Worker fetches ahead by default", async (t) => {
  const shop = await openShop(t, { options: "concurrency: 150" });
  await shop.enqueue();
  const run = await shop.run("worker", "--once");
  assert.equal(run.code, 0, run.stderr);
  assert.equal(shop.server.accepted.length, 1);
  assert.doesNotMatch(run.stderr, /worker_restarted/);
});

test("what keeps a worker from starting is one sentence", async (t) => {
  const missing = await openShop(t, { empty: true });
  const shop = await openShop(t);
  const refuses = async (who: typeof shop, code: number, sentence: RegExp) => {
    const run = await who.run("worker", "--once");
    assert.match(run.stderr, sentence);
    assert.equal(run.code, code);
  };
  await refuses(
    missing,
    1,
    /^posthaste: The database does not hold Posthaste's schema: run `posthaste migrate`.*\n$/,
  );
  await shop.database.query("update posthaste_private.migrations set hash = 'other' where id = 0");
  await refuses(shop, 1, /^posthaste: .* lacks functions: run `posthaste migrate`.*\n$/);
  await shop.database.query("update posthaste_private.migrations set version = '999.0.0'");
  await refuses(shop, 57, /^posthaste: The database's schema is newer than this program.*999\.0\.0.*\n$/);
});

test("a worker of another environment does not start", async (t) => {
  const shop = await openShop(t);
  await shop.run("configure", "environment", "staging");
  const run = await shop.run("worker", "--once");
  assert.match(run.stderr, /posthaste: environment_mismatch: .*"staging".*"production".*\n$/);
  assert.equal(run.code, 1);
});
