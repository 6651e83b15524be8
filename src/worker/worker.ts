import { once } from "node:events";
import type { PosthasteConfig } from "../config.ts";
import { describeError, type Log } from "../log.ts";
import { cronItems } from "./crontab.ts";
import { workerDefaults } from "./defaults.ts";
import { type Engine, startEngine } from "./engine.ts";
import { keepJobPool } from "./job-pool.ts";
import { patienceFor } from "./leases.ts";
import type { OwnProcess } from "./own-process.ts";
import { provideEngine } from "./send-email.ts";

/** A worker process's work. */
export interface Worker {
  readonly engine: Engine;
  /** Takes no new mail, ends what is under way within `shutdownGrace`, and closes everything. The exit code is 1 when an acceptance is lost. */
  stop(): Promise<void>;
}

/** What a worker is made of. */
export interface WorkerOptions {
  readonly config: PosthasteConfig;
  readonly connectionString: string;
  /** The configuration file's preset: what it says under `worker` goes before our defaults. */
  readonly preset?: GraphileConfig.Preset | null | undefined;
  readonly log: Log;
  /** Read templates again when they change. Default false. */
  readonly watch?: boolean | undefined;
  /** Guards this process, which then is the worker's alone. Default: it is not. */
  readonly guard?: OwnProcess | undefined;
}

/** Starts to send mail, in a process of its own: a stray rejection in a library is logged and does not end it. Throws a PosthasteError when the database, the configuration or the templates do not allow it. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, connectionString } = options;
  const crontab = await cronItems(options.preset?.worker?.crontabFile);
  const { log: own, watch, guard } = options;
  const starting = startEngine({ config, connectionString, log: own, watch, importing: guard?.importing });
  provideEngine(starting);
  const engine = await starting;
  const { log } = engine;
  guard?.attribute(engine.strayOf);
  process.on("unhandledRejection", (error) => log("unexpected", { error: describeError(error) }));
  const jobs = keepJobPool({
    cronItems: crontab,
    preset: {
      extends: [workerDefaults, ...(options.preset ? [options.preset] : [])],
      worker: {
        concurrentJobs: config.concurrency,
        localQueue: queueFor(config.concurrency, options.preset),
        gracefulShutdownAbortTimeout: config.shutdownGrace,
      },
    },
    connectionString,
    patience: patienceFor(config.lease),
    engine,
    log,
  });
  log("worker_started", {
    concurrency: config.concurrency,
    environment: config.environment,
    pid: process.pid,
  });
  return {
    engine,
    async stop() {
      log("worker_stopping");
      const [, recorded] = await Promise.all([jobs.stop(), engine.stop()]);
      if (!recorded) process.exitCode = 1;
      provideEngine(null);
      log("worker_stopped");
    },
  };
}

/** Graphile Worker demands room for at least as many jobs as run at once. */
function queueFor(concurrency: number, preset: GraphileConfig.Preset | null | undefined) {
  const queue = { ...workerDefaults.worker?.localQueue, ...preset?.worker?.localQueue };
  return { ...queue, size: Math.max(queue.size ?? 0, concurrency) };
}

/** Resolves at the first SIGTERM or SIGINT. A second one ends the process at once, as people expect of Ctrl-C twice. */
export async function untilSignalled(): Promise<NodeJS.Signals> {
  const [signal] = (await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")])) as [
    NodeJS.Signals,
  ];
  for (const again of ["SIGTERM", "SIGINT"] as const) process.once(again, () => process.exit(1));
  return signal;
}
