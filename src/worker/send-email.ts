import type { Task } from "graphile-worker";
import type { Engine } from "./engine.ts";

let current: Promise<Engine> | null = null;

/** Says which engine the jobs of this process go to; null for none. */
export function provideEngine(engine: Promise<Engine> | null): void {
  current = engine;
}

/** Whether an engine has been provided. */
export function hasEngine(): boolean {
  return current !== null;
}

/** The engine of this process. Rejects when none has been provided. */
export async function currentEngine(): Promise<Engine> {
  if (current !== null) return current;
  throw new Error(
    "Posthaste does not run in this process: start it with `posthaste worker`, or use PosthastePreset with your own worker.",
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The Graphile Worker task `posthaste/send_email`: looks at one row of posthaste.email_messages. Give it to your own
 * worker with a file `tasks/posthaste/send_email.ts`: `export { sendEmail as default } from "posthaste"`.
 */
export const sendEmail: Task = async (payload) => {
  const id = (payload as { id?: unknown } | null)?.id;
  // Not a job of ours. Nothing is lost by ending it: the row, not the job, says what is to be sent.
  if (typeof id !== "string" || !UUID.test(id)) return;
  await (await currentEngine()).deliver(id);
};
