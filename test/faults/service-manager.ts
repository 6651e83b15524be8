import type { WorkerProcess } from "./worker-process.ts";

/** A worker that is started anew whenever it ends. */
export interface KeptWorker {
  /** All that were started, the one that runs last. */
  readonly workers: readonly WorkerProcess[];
  /** Ends it for good. */
  stop(): Promise<void>;
}

/** Keeps a worker running, as a service manager does. */
export function keepWorker(start: () => Promise<WorkerProcess>): KeptWorker {
  const workers: WorkerProcess[] = [];
  let stopped = false;
  const running = keep();

  async function keep(): Promise<void> {
    while (!stopped) {
      const worker = await start();
      workers.push(worker);
      if (stopped) await worker.end();
      await worker.exited;
    }
  }

  return {
    workers,
    async stop() {
      stopped = true;
      await workers.at(-1)?.end();
      await running;
    },
  };
}
