import { setTimeout as delay } from "node:timers/promises";
import type { Leases } from "./leases.ts";

/** Milliseconds for recording what was given back. */
const LAST_WORDS = 2_000;

/**
 * Waits for what is being sent; after `grace` milliseconds what was not handed over is given back, and what was and has
 * no reply stays as it is. Resolves with whether everything has ended.
 */
export async function settle(
  sending: ReadonlySet<Promise<unknown>>,
  leases: Leases,
  grace: number,
): Promise<boolean> {
  if (await allEnd(sending, grace)) return true;
  leases.releaseAll();
  return allEnd(sending, LAST_WORDS);
}

async function allEnd(sending: ReadonlySet<Promise<unknown>>, within: number): Promise<boolean> {
  const late = new AbortController();
  const ended = Promise.allSettled(sending).then(() => true);
  const timeout = delay(within, false, { signal: late.signal }).catch(() => false);
  return Promise.race([ended, timeout]).finally(() => late.abort());
}
