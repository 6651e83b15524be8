import assert from "node:assert/strict";
import { test } from "node:test";
import { startScene } from "../faults/scene.ts";
import type { Context } from "../smtp-server.ts";

const POLL = { pollInterval: 100 };

/** Answers to RCPT by the local part: `later` once with 450, `never` with 550, anyone else with 250. */
function mixedReplies() {
  let put = 0;
  return ({ address }: Context) => {
    if (address.startsWith("never")) return "550 5.1.1 No such user";
    return address.startsWith("later") && put++ === 0 ? "450 4.2.0 Busy" : undefined;
  };
}

test("of several recipients the accepted ones never get a second copy, and only the deferred ones are tried again", async (t) => {
  const scene = await startScene(t);
  scene.server.script.rcpt = mixedReplies();
  await scene.here(POLL);
  const recipients = ["taken", "later", "never"].map((name) => `${name}@customer.example`);
  const id = await scene.enqueue({ recipient: null, recipients, parameters: { n: 1 } });
  await scene.server.messages(1);
  const first = await scene.until(id, "PENDING");
  assert.deepEqual(first.delivered_to, ["taken@customer.example"]);
  assert.deepEqual(Object.keys(first.refused), ["never@customer.example"]);
  assert.equal(first.error_code, "recipient_deferred");
  await scene.hurry(id);
  const row = await scene.until(id, "SENT");
  assert.deepEqual(row.delivered_to, ["later@customer.example", "taken@customer.example"]);
  assert.equal(row.error_code, "recipient_refused");
  assert.equal(row.refused["never@customer.example"].code, 550);
  assert.deepEqual(
    scene.server.accepted.map(({ recipients }) => recipients),
    [["taken@customer.example"], ["later@customer.example"]],
  );
  const outcomes = (await scene.attempts(id)).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ["deferred", "sent"]);
  await scene.verify();
});

test("when nobody is accepted, those who were refused for good are left out of the next attempt", async (t) => {
  const scene = await startScene(t);
  scene.server.script.rcpt = mixedReplies();
  await scene.here(POLL);
  const recipients = ["later@customer.example", "never@customer.example"];
  const id = await scene.enqueue({ recipient: null, recipients, parameters: { n: 1 } });
  await scene.server.reached("rcpt", 2);
  await scene.until(id, "PENDING");
  await scene.hurry(id);
  const row = await scene.until(id, "SENT");
  assert.deepEqual(Object.keys(row.refused), ["never@customer.example"]);
  assert.deepEqual(scene.server.accepted[0]?.recipients, ["later@customer.example"]);
  const asked = scene.server.sessions.flatMap(({ commands }) =>
    commands.filter((one) => /RCPT.*never/.test(one)),
  );
  assert.equal(asked.length, 1);
  await scene.verify();
});

test("a mail whose only recipient is refused has failed, with the server's reply for the operator", async (t) => {
  const scene = await startScene(t, { smtp: { script: { rcpt: "550 5.1.1 No such user" } } });
  await scene.here(POLL);
  const id = await scene.enqueue({ parameters: { n: 1 } });
  const row = await scene.until(id, "FAILED");
  assert.equal(row.error_code, "recipient_refused");
  assert.match(row.error_message, /550 5\.1\.1 No such user/);
  const [attempt] = await scene.attempts(id);
  assert.deepEqual([attempt?.outcome, attempt?.smtp_code, attempt?.enhanced_code], ["refused", 550, "5.1.1"]);
  await scene.verify();
});

test("451 at DATA is tried again; 5xx after the dot is the end", async (t) => {
  const scene = await startScene(t);
  let tries = 0;
  scene.server.script.data = () => (++tries === 1 ? "451 4.3.0 Try later" : undefined);
  await scene.here(POLL);
  const deferred = await scene.enqueue({ parameters: { n: 1 } });
  assert.equal((await scene.until(deferred, "SENT")).attempt_count, 2);
  scene.server.script = { dot: "554 5.7.1 Looks like spam" };
  const refused = await scene.enqueue({ parameters: { n: 2 } });
  const row = await scene.until(refused, "FAILED");
  assert.deepEqual(
    [row.error_code, row.attempt_count, row.handed_over_at !== null],
    ["message_refused", 1, true],
  );
  await scene.verify();
});

test("a mail is tried exactly max_attempts times, and keeps the last cause", async (t) => {
  const scene = await startScene(t, { smtp: { script: { dot: "451 4.3.0 Never in the mood" } } });
  await scene.here(POLL);
  const id = await scene.enqueue({ parameters: { n: 1 }, max_attempts: 3 });
  const row = await scene.until(id, "FAILED");
  assert.deepEqual([row.attempt_count, row.error_code], [3, "message_deferred"]);
  const dots = scene.server.sessions.flatMap(({ commands }) => commands.filter((line) => line === "DATA"));
  assert.equal(dots.length, 3);
  // An operator may have it tried again, from the start.
  scene.server.script = {};
  await scene.database.query("select posthaste.retry($1)", [id]);
  assert.equal((await scene.until(id, "SENT")).attempt_count, 1);
  const numbers = (await scene.attempts(id)).map(({ number }) => number);
  assert.deepEqual(numbers, [1, 2, 3, 4]);
});

test("a mail whose next attempt would come after expires_at ends at once, and says so", async (t) => {
  const scene = await startScene(t, {
    smtp: { script: { dot: "451 4.3.0 Not now" } },
    options: { retry: { delays: ["1h"] } },
  });
  await scene.here(POLL);
  const [{ at }] = await scene.database.query("select now() + interval '5 minutes' as at");
  const id = await scene.enqueue({ parameters: { n: 1 }, expires_at: at });
  const row = await scene.until(id, "FAILED");
  assert.deepEqual([row.error_code, row.attempt_count], ["expired", 1]);
  assert.match(row.error_message, /451/);
  await scene.verify();
});

test("a mail that waits past expires_at is never sent", async (t) => {
  const scene = await startScene(t);
  await scene.here(POLL);
  await scene.database.query("select posthaste.pause('default', 'a test')");
  const [{ at }] = await scene.database.query("select now() + interval '300 milliseconds' as at");
  const id = await scene.enqueue({ parameters: { n: 1 }, expires_at: at });
  const row = await scene.until(id, "FAILED");
  assert.deepEqual([row.error_code, row.attempt_count], ["expired", 0]);
  assert.equal(scene.server.sessions.length, 0);
});

test("a wait that the server names is kept", async (t) => {
  const scene = await startScene(t, {
    smtp: { script: { dot: "451 4.7.1 Greylisted, try again in 300 seconds" } },
  });
  await scene.here(POLL);
  const id = await scene.enqueue({ parameters: { n: 1 } });
  await scene.server.reached("dot");
  const row = await scene.until(id, "PENDING");
  const [attempt] = await scene.attempts(id);
  const wait = row.next_attempt_at.getTime() - attempt?.finished_at.getTime();
  assert.ok(wait >= 300_000 && wait < 301_000, `${wait} ms`);
});

test("a connection that ends after the dot leaves the outcome unknown: sent again and flagged, or left to the operator", async (t) => {
  const scene = await startScene(t);
  let dots = 0;
  scene.server.script.dot = () => (++dots <= 2 ? { keep: true, end: "reset" } : undefined);
  await scene.here(POLL);
  const left = await scene.enqueue({ template: "once", parameters: { n: 1 } });
  const failed = await scene.until(left, "FAILED");
  assert.deepEqual([failed.error_code, failed.possible_duplicate], ["outcome_unknown", true]);
  const again = await scene.enqueue({ parameters: { n: 2 } });
  const row = await scene.until(again, "SENT");
  assert.deepEqual([row.possible_duplicate, row.attempt_count], [true, 2]);
  const [, first, second] = scene.server.accepted;
  assert.equal(first?.messageId, second?.messageId);
  await scene.verify({ duplicated: [`${again} ada@customer.example`] });
});
