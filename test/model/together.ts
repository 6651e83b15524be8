import type pg from "pg";
import type { Action, Effects } from "./actions.ts";
import type { Scene } from "./scene.ts";

/** How an action runs beside others: by itself, or in a transaction that stays open until the others have answers or wait. */
export type Manner = "at once" | "commits last" | "rolls back";

interface Running {
  readonly client: pg.Client;
  readonly pid: number;
  readonly manner: Manner;
  readonly action: Action;
  /** What is still to be done before the transaction ends. */
  next: Action | undefined;
  state: "runs" | "answered" | "over";
  readonly effects: Effects[];
  error: unknown;
}

/** Runs actions at the same time, each on its own connection; the effects of those that were committed. */
export async function together(
  scene: Scene,
  actions: readonly { action: Action; manner: Manner }[],
): Promise<Effects[]> {
  const all = actions.map(({ action, manner }, n): Running => {
    const client = scene.actors[n] as pg.Client;
    const pid = (client as unknown as { processID: number }).processID;
    const whole = action.next && manner === "at once" ? "commits last" : manner;
    return { client, pid, manner: whole, action, next: action, state: "runs", effects: [], error: null };
  });
  await Promise.all(all.map(({ client, manner }) => (manner === "at once" ? null : client.query("begin"))));
  const answers = all.map(run);

  for (;;) {
    await quiet(scene, all);
    const open = all.filter(({ state }) => state === "answered");
    if (open.length === 0 && all.every(({ state }) => state === "over")) break;
    const more = open.filter(({ next, error }) => next && error === null);
    if (more.length > 0) answers.push(...more.map(run));
    else await Promise.all(open.map(finish));
  }
  await Promise.all(answers);
  for (const { error } of all) if (error !== null) throw error;
  return all.flatMap(({ effects, manner }) => (manner === "rolls back" ? [] : effects));
}

async function run(one: Running): Promise<void> {
  const action = one.next as Action;
  one.next = action.next;
  one.state = "runs";
  try {
    one.effects.push(await action.run(one.client));
  } catch (error) {
    one.error = new Error(`${action.name}: ${(error as Error).message}`, { cause: error });
  }
  one.state = one.manner === "at once" ? "over" : "answered";
}

async function finish(one: Running): Promise<void> {
  await one.client.query(one.manner === "commits last" && one.error === null ? "commit" : "rollback");
  one.state = "over";
}

/** Resolves when each has its answer, or waits for another. */
async function quiet(scene: Scene, all: readonly Running[]): Promise<void> {
  for (;;) {
    const busy = all.filter(({ state }) => state === "runs");
    if (busy.length === 0) return;
    const waiting = await scene.waiting(busy.map(({ pid }) => pid));
    const free = busy.filter(({ state, pid }) => state === "runs" && !waiting.has(pid));
    if (free.length > 0 || busy.some(({ state }) => state !== "runs")) continue;
    for (const one of busy) one.error ??= impatience(one, all);
    return;
  }
}

/** Everybody else has an answer or waits as well, so this wait ends only with somebody's transaction. */
function impatience({ action }: Running, all: readonly Running[]): Error | null {
  const { waitsFor } = action;
  const names = all.filter((other) => other.action !== action).map((other) => other.action.name);
  if (!waitsFor || names.some((name) => waitsFor.some((known) => name.startsWith(known)))) return null;
  return new Error(`${action.name} waits for one of ${names.join(" | ")}`);
}
