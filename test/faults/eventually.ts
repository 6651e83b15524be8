import { setTimeout as delay } from "node:timers/promises";

type Not = undefined | null | false;

/** Asks again until the answer is not undefined, null or false. Fails, naming what it waited for, when that takes too long. */
export async function eventually<T>(
  what: string,
  ask: () => T | Not | Promise<T | Not>,
  within = 15_000,
): Promise<T> {
  const deadline = performance.now() + within;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`Waited ${within} ms in vain: ${what}.`);
    await delay(25);
  }
}
