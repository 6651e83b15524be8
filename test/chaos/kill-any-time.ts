import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../faults/eventually.ts";
import { type Account, accountOf } from "./account.ts";
import { onStage } from "./stage.ts";

/** Many deaths under load. */
export interface Deaths extends Account {
  readonly kills: number;
  /** Mails that were in flight at the deaths, and of these the ones that were handed over. */
  readonly inFlight: number;
  readonly handedOver: number;
}

const BACKLOG = 300;
/** Milliseconds that the server takes to reply to the dot, at most. */
const REPLY = 20;

/** kill -9 at any time of workers that are busy, one after the other; the next one is ready before its forerunner dies. */
export function killAnyTime(kills: number): Promise<Deaths> {
  return onStage({}, async (scene) => {
    scene.server.script.dot = () => delay(Math.random() * REPLY, undefined);
    let inFlight = 0;
    let handedOver = 0;
    const supply = async () => {
      const [{ waiting }] = await scene.database.query(
        "select count(*)::int as waiting from posthaste.email_messages where status = 'PENDING'",
      );
      if (waiting < BACKLOG) await scene.enqueueMany(BACKLOG);
    };
    let worker = await scene.process();
    for (let death = 1; death <= kills; death += 1) {
      await supply();
      const next = await scene.process();
      await eventually("it is busy", () => worker.log.lines.some(({ event }) => event === "email_sent"));
      await delay(Math.random() * 200);
      worker.kill("SIGKILL");
      await worker.exited;
      const [caught] = await scene.database.query(
        `select count(*)::int as all, count(handed_over_at)::int as handed from posthaste.email_messages
         where status = 'SENDING' and locked_by like '%-' || $1 || '-%'`,
        [worker.pid],
      );
      inFlight += caught.all;
      handedOver += caught.handed;
      worker = next;
    }
    await scene.drained(60_000);
    return { ...(await accountOf(scene)), kills, inFlight, handedOver };
  });
}
