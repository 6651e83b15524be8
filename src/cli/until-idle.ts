import { setTimeout as delay } from "node:timers/promises";
import { createLedger } from "../database/ledger.ts";
import { createPool } from "../database/pool.ts";
import type { Store } from "../database/store.ts";

/** Transports that are to be probed now: name and how many failures their breakers counted before. */
export type AwaitedProbes = ReadonlyMap<string, number>;

/** Milliseconds between two looks. */
const PAUSE = 100;

/**
 * The stopped transports whose probe is due. Their mail does not count as due while they are stopped, so a worker that
 * runs only for a moment at a time would end before it has probed, each time anew.
 */
export async function awaitedProbes(connectionString: string): Promise<AwaitedProbes> {
  const pool = createPool({ connectionString, applicationName: "posthaste worker", max: 1 });
  try {
    const { transports } = await createLedger(pool).stats();
    const due = transports.filter(
      ({ state, next_probe_at }) =>
        state === "open" && next_probe_at !== null && new Date(next_probe_at).getTime() <= Date.now(),
    );
    return new Map(due.map(({ name, failures }) => [name, failures]));
  } finally {
    await pool.end();
  }
}

/**
 * Resolves when no mail is due that can be sent, none is being sent, and the probes have shown what they show. Mail that
 * cannot be sent now goes back to a later time with each attempt, so this comes to an end.
 */
export async function untilIdle(
  store: Store,
  probes: AwaitedProbes,
  signalled: Promise<unknown>,
): Promise<void> {
  const awaited = new Map(probes);
  let over = false;
  signalled.then(() => {
    over = true;
  });
  while (!over) {
    const states = awaited.size === 0 ? [] : await store.transportStates([...awaited.keys()]);
    for (const [name, failures] of awaited) {
      const now = states.find((state) => state.name === name);
      // It serves again, an operator has paused it, or the probe has failed and counted.
      if (now?.state !== "open" || now.failures !== failures) awaited.delete(name);
    }
    if (awaited.size === 0 && !(await store.isBusy())) return;
    await delay(PAUSE);
  }
}
