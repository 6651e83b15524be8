import { setTimeout as delay } from "node:timers/promises";
import { type Account, accountOf } from "./account.ts";
import { onStage } from "./stage.ts";

/** Three leases of the scenes. */
const LONG = 9_000;

/** SIGSTOP just before the hand-over, which comes before the final dot, for three leases beside a second worker; then SIGCONT. */
export function stallBeforeDot(): Promise<Account & { copies: number }> {
  return onStage({}, async (scene) => {
    const first = await scene.process({ crashAt: "before_hand_over:stop" });
    const id = await scene.enqueue({ parameters: { n: 1 } });
    await first.stopped();
    await Promise.all([scene.process(), delay(LONG)]);
    await scene.until(id, "SENT");
    first.kill("SIGCONT");
    await first.log.line("email_lost");
    // It is well again: it ends what it has, and nothing more comes of the mail that it lost.
    first.kill("SIGTERM");
    await first.exited;
    const copies = scene.server.accepted.length;
    return { ...(await accountOf(scene)), copies };
  });
}
