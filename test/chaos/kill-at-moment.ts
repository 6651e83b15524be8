import type { CrashPoint } from "../../src/worker/crash-point.ts";
import { type Account, accountOf } from "./account.ts";
import { onStage } from "./stage.ts";

/** A moment of one send, in their order. `dot taken`: the server has the whole message, and its reply is on the way. */
export type Moment = CrashPoint | "dot taken";

export const MOMENTS: readonly Moment[] = ["before_hand_over", "after_hand_over", "dot taken", "after_reply", "after_record"]; // biome-ignore format: a list

/** kill -9 of one worker after the other, each with one mail in flight, which is at this moment. */
export function killAtMoment(moment: Moment, kills: number): Promise<Account> {
  return onStage({}, async (scene) => {
    for (let n = 1; n <= kills; n += 1) {
      const worker = await scene.process({
        options: { concurrency: 1 },
        ...(moment === "dot taken" ? {} : { crashAt: moment }),
      });
      if (moment === "dot taken")
        scene.server.script.dot = () => {
          worker.kill("SIGKILL");
          return { keep: true };
        };
      await scene.enqueue({ parameters: { n } });
      await worker.exited;
    }
    scene.server.script = {};
    await scene.process();
    await scene.drained(60_000);
    return accountOf(scene);
  });
}
