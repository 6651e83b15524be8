import { TIMED_OUT, within } from "../timeout.ts";

/** What was started and must be closed, whatever happens. */
export interface Teardown {
  /** Notes how to close a part that has just been started. After `run` it is closed at once: its start came too late. */
  add(close: () => Promise<unknown>): void;
  /**
   * Closes the parts, the last one first, and never rejects: a part that cannot be closed does not keep the others open.
   * A moment later the process ends, whatever a broken part still holds open.
   */
  run(): Promise<void>;
}

/** Milliseconds that one part may take to close. */
const PATIENCE = 10_000;
/** Milliseconds in which the error that led here is reported. */
const LAST_WORDS = 1000;

/** Collects parts as they are started, for commands that start several of them. */
export function createTeardown(): Teardown {
  const parts: (() => Promise<unknown>)[] = [];
  let over = false;
  const closeAll = async (): Promise<void> => {
    for (let close = parts.pop(); close; close = parts.pop()) {
      await within(PATIENCE, close()).catch(() => TIMED_OUT);
    }
  };
  return {
    add(close) {
      parts.push(close);
      if (over) void closeAll();
    },
    async run() {
      over = true;
      await closeAll();
      // Without a number: with the exit code that the command has by then.
      setTimeout(() => process.exit(), LAST_WORDS).unref();
    },
  };
}
