/** Work that is repeated until it is closed. */
export interface Loop {
  /** The next run comes in `pause` milliseconds at the latest. */
  within(pause: number): void;
  /** Ends after the run that is under way. */
  close(): Promise<void>;
}

/**
 * Runs `work` at once and again after the pause in milliseconds that it returns.
 * @param options.pauseAfterError milliseconds
 */
export function startLoop(
  work: () => Promise<number>,
  options: { pauseAfterError: number; onError: (error: unknown) => void },
): Loop {
  let closed = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout;
  let dueAt = 0;

  function schedule(pause: number): void {
    if (closed) return;
    clearTimeout(timer);
    dueAt = performance.now() + pause;
    timer = setTimeout(tick, pause);
  }

  function tick(): void {
    dueAt = Number.POSITIVE_INFINITY;
    running = work()
      .catch((error) => {
        options.onError(error);
        return options.pauseAfterError;
      })
      .then((pause) => {
        running = null;
        // Whoever asked for an earlier run while this one was under way gets it.
        schedule(Math.min(pause, Math.max(0, dueAt - performance.now())));
      });
  }

  schedule(0);
  return {
    within(pause) {
      if (running) dueAt = Math.min(dueAt, performance.now() + pause);
      else if (performance.now() + pause < dueAt) schedule(pause);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
