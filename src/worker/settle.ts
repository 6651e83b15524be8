import { setTimeout as delay } from "node:timers/promises";
import type { Leases } from "./leases.ts";

/** Milliseconds for recording what was given back or broken off, and for taking leave of the mail servers. */
const LAST_WORDS = 2_000;

/**
 * Waits for what is being sent. After `grace` milliseconds what was not handed over is given back; what was, and has no
 * reply, is broken off: its outcome is unknown, and this process will not hear of it any more.
 */
export async function settle(
  sending: ReadonlySet<Promise<unknown>>,
  leases: Leases,
  grace: number,
): Promise<void> {
  if (await allEnd(sending, grace)) return;
  leases.breakOff();
  await allEnd(sending);
}

/** Waits for all of them, but no longer than `within` milliseconds; resolves with whether all have ended. */
export async function allEnd(work: Iterable<Promise<unknown>>, within = LAST_WORDS): Promise<boolean> {
  const late = new AbortController();
  const ended = Promise.allSettled(work).then(() => true);
  const timeout = delay(within, false, { signal: late.signal }).catch(() => false);
  return Promise.race([ended, timeout]).finally(() => late.abort());
}
