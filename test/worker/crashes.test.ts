import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CrashPoint } from "../../src/worker/crash-point.ts";
import { type Scene, startScene } from "../faults/scene.ts";
import type { WorkerProcess } from "../faults/worker-process.ts";

/** A template whose mail does not go out in one piece, so that the worker can be met in the middle of it. */
const LARGE = `
export const subject = "Large";
export default () => <html><body>{"A paragraph of many. ".repeat(100_000)}</body></html>;`;

/** The first worker meets its end where it must, and another takes over. */
async function takeOver(scene: Scene, first: WorkerProcess, id: string): Promise<void> {
  const { signal } = await first.exited;
  assert.equal(signal, "SIGKILL");
  await scene.process();
  await scene.until(id, "SENT", 60_000);
}

describe("a worker that is killed", { concurrency: 4 }, () => {
  const before: readonly CrashPoint[] = ["after_claim", "before_send", "before_hand_over"];
  for (const point of before) {
    test(`before the hand-over (${point}) sends one copy in all, and flags nothing`, async (t) => {
      const scene = await startScene(t);
      const first = await scene.process({ crashAt: point });
      const id = await scene.enqueue({ parameters: { n: 1 } });
      await takeOver(scene, first, id);
      const row = await scene.row(id);
      assert.deepEqual([row.possible_duplicate, row.attempt_count, row.deferral_count], [false, 1, 1]);
      const attempts = await scene.attempts(id);
      assert.deepEqual(
        attempts.map(({ outcome, error_code }) => [outcome, error_code]),
        [
          ["crashed", "worker_crashed"],
          ["sent", null],
        ],
      );
      assert.equal(scene.server.accepted.length, 1);
      await scene.verify();
    });
  }

  test("in the middle of the body leaves no half message behind, and sends one copy", async (t) => {
    const scene = await startScene(t, { templates: { "large.tsx": LARGE } });
    const first = await scene.process();
    scene.server.script.body = ({ session }) => {
      if (session.number > 1) return undefined;
      first.kill("SIGKILL");
      return { end: "pause" };
    };
    const id = await scene.enqueue({ template: "large" });
    await takeOver(scene, first, id);
    assert.equal(scene.server.accepted.length, 1);
    assert.equal((await scene.row(id)).possible_duplicate, false);
    await scene.verify();
  });

  for (const template of ["plain", "once"]) {
    const resent = template === "plain";
    const what = resent ? "is sent again, flagged, with the same Message-ID" : "is left to the operator";
    const after: readonly CrashPoint[] = ["after_hand_over", "after_reply"];
    for (const point of [...after, "at the dot"] as const) {
      test(`after the hand-over (${point.replaceAll("_", " ")}): the mail ${what}`, async (t) => {
        const scene = await startScene(t);
        const first = await scene.process(point === "at the dot" ? {} : { crashAt: point });
        // The server has the whole message and keeps it, but the worker does not live to read the reply.
        scene.server.script.dot = ({ session }) => {
          if (point !== "at the dot" || session.number > 1) return undefined;
          first.kill("SIGKILL");
          return { keep: true };
        };
        const id = await scene.enqueue({ template, parameters: { n: 1 } });
        const copies = point === "after_hand_over" ? 0 : 1;
        if (resent) {
          await takeOver(scene, first, id);
          const row = await scene.row(id);
          assert.deepEqual([row.possible_duplicate, row.attempt_count], [true, 2]);
          const ids = scene.server.accepted.map(({ messageId }) => messageId);
          assert.deepEqual(ids, new Array(copies + 1).fill(row.message_id));
          await scene.verify({ duplicated: copies === 1 ? [`${id} ada@customer.example`] : [] });
        } else {
          await first.exited;
          await scene.process();
          const row = await scene.until(id, "FAILED");
          assert.deepEqual([row.error_code, row.possible_duplicate], ["outcome_unknown", true]);
          assert.equal(scene.server.accepted.length, copies);
          await scene.verify();
        }
        const [attempt] = await scene.attempts(id);
        assert.deepEqual([attempt?.outcome, attempt?.phase], ["unknown", "final_dot"]);
      });
    }
  }

  test("when the acceptance is recorded does not send it again, though its job never ended", async (t) => {
    const scene = await startScene(t);
    const first = await scene.process({ crashAt: "after_record" });
    const id = await scene.enqueue({ parameters: { n: 1 } });
    await first.exited;
    await scene.process();
    const next = await scene.enqueue({ parameters: { n: 2 } });
    await scene.until(next, "SENT");
    const row = await scene.row(id);
    assert.deepEqual([row.status, row.attempt_count, row.possible_duplicate], ["SENT", 1, false]);
    assert.equal(scene.server.accepted.length, 2);
    await scene.verify();
  });
});
