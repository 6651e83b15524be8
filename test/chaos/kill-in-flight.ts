import { type Account, accountOf } from "./account.ts";
import { onStage } from "./stage.ts";

/** One death and what came after it. */
export interface Takeover extends Account {
  /** Milliseconds from the death until everything is delivered. */
  readonly took: number;
  /** Of these, until the second worker was ready. */
  readonly start: number;
  /** Jobs that the worker had fetched and not ended. */
  readonly fetched: number;
}

const IN_FLIGHT = 100;

/**
 * kill -9 of a worker that has a hundred mails in flight and its local queue full; then a second one is started. Half of
 * the hundred wait for the reply to RCPT, half for the reply to the dot, and of these the server has kept every other.
 */
export function killInFlight(): Promise<Takeover> {
  return onStage({}, async (scene) => {
    const transports = { default: { url: scene.server.url, connections: IN_FLIGHT } };
    const first = await scene.process({ options: { concurrency: IN_FLIGHT, transports } });
    let dots = 0;
    scene.server.script = {
      rcpt: ({ session }) => (session.number <= IN_FLIGHT && session.number % 2 === 0 ? {} : undefined),
      dot: ({ session }) => (session.number <= IN_FLIGHT ? { keep: ++dots % 2 === 0 } : undefined),
    };
    await scene.enqueueMany(4 * IN_FLIGHT);
    await Promise.all([scene.server.reached("dot", IN_FLIGHT / 2), scene.server.reached("rcpt", IN_FLIGHT)]);
    const [{ fetched }] = await scene.database.query(
      "select count(*)::int as fetched from graphile_worker.jobs where locked_by is not null",
    );
    first.kill("SIGKILL");
    await first.exited;
    const died = performance.now();
    await scene.process({ options: { transports } });
    const start = performance.now() - died;
    await scene.drained(60_000);
    const took = performance.now() - died;
    return { ...(await accountOf(scene)), took, start, fetched };
  });
}
