import assert from "node:assert/strict";
import { test } from "node:test";
import { liveWorker } from "../sql/workers.ts";
import { failMail, openShop } from "./shop.ts";

test("status counts the failures of the last hour by cause, and is content with them", async (t) => {
  const shop = await openShop(t);
  for (const code of ["render_failed", "template_not_found", "template_not_found", "expired"])
    await failMail(shop.database, await shop.enqueue(), code);
  await shop.database.query(
    "update posthaste.email_messages set finished_at = now() - interval '61 minutes' where error_code = 'expired'",
  );
  const worker = await liveWorker(shop.database, "here");
  const { code, stdout } = await shop.run("status");
  await worker.die();
  assert.match(stdout, /\nFAILED +4 \(3 in the last hour: template_not_found 2, render_failed 1\)\n/);
  assert.equal(code, 0);
});

test("status names a transport that no worker has, and mail that a lost worker handed over", async (t) => {
  const shop = await openShop(t);
  const worker = shop.start("worker");
  await worker.said(/"worker_started"/);
  await shop.enqueue("transport => 'bluk'");
  const later = await shop.enqueue("transport => 'bluk', send_at => now() + interval '1 day'");
  await shop.database.query(
    `update posthaste.email_messages set status = 'SENDING', lease_token = id, locked_by = 'gone', handed_over_at = now(),
       locked_until = now() + interval '40 seconds', transport = null where id = $1`,
    [later],
  );
  const { code, stdout } = await shop.run("status", "--json");
  worker.child.kill("SIGTERM");
  await worker.ended;
  const { state, words, without_transport, abandoned } = JSON.parse(stdout);
  assert.deepEqual([code, state, abandoned], [1, "stopped", 1]);
  assert.deepEqual(without_transport, [{ transport: "bluk", emails: 1 }]);
  assert.match(words[0], /^1 mail waits for the transport "bluk", which no worker has \(known: default\)/);
  assert.match(words[1], /^1 mail's worker is gone; it is settled when its lease ends, in \d\d s\.$/);
});

test("status of an older schema tells what can be told", async (t) => {
  const shop = await openShop(t);
  await shop.database.query("drop function posthaste_private.queue_troubles()");
  await shop.database.query("update posthaste_private.migrations set hash = 'older' where id = 0");
  const { code, stdout } = await shop.run("status");
  assert.match(stdout, /lacks functions.*\n(?:.*\n)*PENDING +0\n/);
  assert.equal(code, 1);
});
