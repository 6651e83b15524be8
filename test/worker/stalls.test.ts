import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startScene } from "../faults/scene.ts";

/** Three leases of the scenes. */
const LONG = 9_000;

describe("a worker that stalls", { concurrency: 3 }, () => {
  test("before the hand-over cannot write the dot when it wakes: another one has sent the mail", async (t) => {
    const scene = await startScene(t);
    const first = await scene.process({ crashAt: "before_hand_over:stop" });
    const id = await scene.enqueue({ parameters: { n: 1 } });
    await first.stopped();
    await scene.process();
    const row = await scene.until(id, "SENT");
    assert.deepEqual([row.attempt_count, row.possible_duplicate], [1, false]);
    await delay(LONG - 3_000);
    first.kill("SIGCONT");
    await first.log.line("email_lost");
    assert.equal(scene.server.accepted.length, 1);
    assert.equal((await scene.row(id)).status, "SENT");
    // It goes on as if nothing had happened.
    const next = await scene.enqueue({ parameters: { n: 2 } });
    await scene.until(next, "SENT");
    await scene.verify();
  });

  test("between the yes and the dot finds the yes too old, and withholds the dot", async (t) => {
    const scene = await startScene(t);
    const first = await scene.process({ crashAt: "after_hand_over:stop" });
    const id = await scene.enqueue({ parameters: { n: 1 } });
    await first.stopped();
    await scene.process();
    const row = await scene.until(id, "SENT");
    assert.equal(row.possible_duplicate, true, "the row said that a copy may have gone out");
    first.kill("SIGCONT");
    await first.log.line("email_lost");
    assert.equal(scene.server.accepted.length, 1);
    await scene.verify();
  });

  test("while it waits for the reply to the dot brings late news, which change nothing that is at its end", async (t) => {
    const scene = await startScene(t);
    let reply: (act: string) => void = () => {};
    const held = new Promise<string>((resolve) => {
      reply = resolve;
    });
    scene.server.script.dot = ({ session }) => (session.number === 1 ? held : undefined);
    const first = await scene.process();
    const id = await scene.enqueue({ parameters: { n: 1 } });
    await scene.server.reached("dot");
    first.kill("SIGSTOP");
    const second = await scene.process();
    await scene.until(id, "SENT");
    assert.equal((await second.log.line("emails_taken_over")).level, "warn");
    reply("250 2.0.0 Ok");
    first.kill("SIGCONT");
    const late = await first.log.line("email_sent");
    assert.deepEqual([late.possibleDuplicate, late.level], [true, "warn"]);
    const row = await scene.row(id);
    assert.deepEqual([row.status, row.possible_duplicate, row.attempt_count], ["SENT", true, 2]);
    await scene.verify({ duplicated: [`${id} ada@customer.example`] });
  });

  test("is no worker that waits: a reply to RCPT that takes longer than the lease costs nothing", async (t) => {
    const scene = await startScene(t);
    scene.server.script.rcpt = ({ session }) => (session.number === 1 ? delay(5_000, undefined) : undefined);
    await scene.process();
    await scene.process();
    const id = await scene.enqueue({ parameters: { n: 1 } });
    const row = await scene.until(id, "SENT");
    assert.deepEqual([row.attempt_count, row.possible_duplicate], [1, false]);
    assert.equal(scene.server.accepted.length, 1);
    await scene.verify();
  });

  test("is no worker that waits: a reply to the dot that takes longer than the lease is waited for", async (t) => {
    const scene = await startScene(t);
    scene.server.script.dot = () => delay(5_000, "250 2.0.0 Ok");
    await scene.process();
    await scene.process();
    const id = await scene.enqueue({ parameters: { n: 1 } });
    const row = await scene.until(id, "SENT");
    assert.deepEqual([row.attempt_count, row.possible_duplicate], [1, false]);
    assert.equal(scene.server.accepted.length, 1);
    await scene.verify();
  });
});
