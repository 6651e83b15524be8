import { isDeepStrictEqual } from "node:util";
import type { Step } from "./machine.ts";
import type { Mail, Slot } from "./state.ts";

/**
 * Looks for an order in which these steps lead from one state to what is found: each step is atomic, so there must be one.
 * The state that the model has then; undefined when no order explains it.
 */
export function explain<T>(before: T, steps: readonly Step<T>[], fits: (state: T) => boolean): T | undefined {
  if (steps.length === 0) return fits(before) ? before : undefined;
  for (const [n, step] of steps.entries()) {
    const rest = steps.toSpliced(n, 1);
    for (const after of step(before)) {
      const found = explain(after, rest, fits);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Whether the model's slot is the one that is found. */
export function sameSlot(
  model: Slot,
  found: { key: { id: string; until: number | null } | null; mail: Mail | null } | undefined,
): boolean {
  const key = model.key && { id: model.key.id, until: model.key.until };
  const mail = model.mail && found?.mail ? atItsTime(model.mail, found.mail) : model.mail;
  return isDeepStrictEqual({ key, mail }, found ?? { key: null, mail: null });
}

/** A delay is partly random: any time within it is right. */
function atItsTime(mail: Mail, { due }: Mail): Mail {
  // Less than a millisecond is lost where delays are computed in floating point.
  const right = due >= mail.due - 1000 && due <= mail.dueUntil + 1000;
  return right ? { ...mail, due, dueUntil: due } : mail;
}
