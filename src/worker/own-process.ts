import { describeError, type Log } from "../log.ts";
import type { Stray } from "../templates/stray.ts";
import { type BlockWatch, watchForBlocks } from "./block-watch.ts";

/** Milliseconds that the event loop may stand still, whatever is configured: collecting garbage takes its time too. */
const SHORTEST = 2_000;

/** A process that does nothing but send mail, kept from harm by templates. */
export interface OwnProcess extends BlockWatch {
  /** From now on what a template throws out of turn is told apart from other errors. */
  attribute(strayOf: (error: unknown) => Stray | null): void;
}

/**
 * Ends this process when it is blocked for longer than rendering may take, or when nobody knows what an error has broken:
 * whoever runs it starts it anew, and what it was sending is taken up again.
 * @param timeout milliseconds that rendering may take
 */
export function guardProcess(log: Log, timeout: number): OwnProcess {
  const watch = watchForBlocks(Math.max(timeout, SHORTEST));
  let strayOf: (error: unknown) => Stray | null = () => null;
  // Node would print the error's text, which may quote a mail.
  const onError = (error: unknown): void => {
    const stray = strayOf(error);
    log(stray ? "template_threw" : "unexpected", { ...stray, error: describeError(error) });
    if (!stray) process.exit(1);
  };
  // A template that ends the process must not look like a worker that was asked to stop.
  const onExit = (): void => {
    process.exitCode ||= 1;
  };
  process.on("uncaughtException", onError).once("exit", onExit);
  return {
    importing: watch.importing,
    attribute(known) {
      strayOf = known;
    },
    close() {
      watch.close();
      process.off("uncaughtException", onError).off("exit", onExit);
    },
  };
}
