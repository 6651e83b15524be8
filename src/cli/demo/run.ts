import { once } from "node:events";
import { PosthasteError } from "../../errors.ts";
import { TIMED_OUT, within } from "../../timeout.ts";
import { createTeardown } from "../teardown.ts";
import { startParts } from "./parts.ts";
import { note, title } from "./print.ts";
import { tellStory } from "./story.ts";

/** Milliseconds that the whole demo may take. A slow machine needs about 15 s. */
const DEADLINE = 50_000;

/**
 * Runs the demo and prints it. Leaves nothing behind: no process, no file.
 * @throws PosthasteError when a part is not installed, does not start, or the mail does not arrive in time
 */
export async function runDemo(): Promise<void> {
  title("Posthaste: an order is saved, and its confirmation is on its way.");
  note("All of this is temporary and on this machine: PostgreSQL, a worker, and a mail server that keeps");
  note("what it gets. No mail leaves the machine.");
  if (process.env.DATABASE_URL)
    note("DATABASE_URL is set. The demo does not use it, and does not touch that database.");

  const teardown = createTeardown();
  const signalled = new AbortController();
  const interrupted = Promise.race(
    ["SIGINT", "SIGTERM"].map((signal) => once(process, signal, { signal: signalled.signal })),
  ).then(() => {
    throw new PosthasteError("The demo was interrupted. Nothing of it is left.");
  });
  try {
    const told = await within(DEADLINE, Promise.race([startParts(teardown).then(tellStory), interrupted]));
    if (told !== TIMED_OUT) return;
    throw new PosthasteError(
      `The demo must end within ${DEADLINE / 1000} s and did not: the step above is where it stood. Try again when the machine is less busy.`,
    );
  } finally {
    await teardown.run();
    signalled.abort();
  }
}
