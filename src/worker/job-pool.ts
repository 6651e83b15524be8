import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Logger, type ParsedCronItem, run, type WorkerEvents, type WorkerPool } from "graphile-worker";
import { createPool } from "../database/pool.ts";
import { describeError, type Log } from "../log.ts";
import type { Engine } from "./engine.ts";
import { allEnd } from "./settle.ts";

/** Graphile Worker, kept running. */
export interface JobPool {
  /** Takes no new job, gives back the ones that were fetched ahead, and waits for those that run. */
  stop(): Promise<void>;
}

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;
/** Graphile Worker may never report the end of a pool after a fatal error: this is how long it gets, in milliseconds. */
const LAST_WORDS = 5_000;
/** Fetches that fail one after the other until a pool is given up. */
const FAILED_FETCHES = 3;

/**
 * Runs Graphile Worker and starts a new one whenever it stops: a lost connection while jobs are being completed ends its
 * pool (graphile/worker#636). Jobs of the ended pool are unlocked and run again, which changes nothing for mail that is sent.
 */
export function keepJobPool(options: {
  preset: GraphileConfig.Preset;
  /** What is done by the clock. */
  cronItems: ParsedCronItem[];
  connectionString: string;
  /** As in `createPool`. */
  patience: number;
  engine: Engine;
  log: Log;
}): JobPool {
  const stopping = new AbortController();
  const done = supervise();

  async function supervise(): Promise<void> {
    let pause = FIRST_PAUSE;
    while (!stopping.signal.aborted) {
      const started = performance.now();
      await runOnce().catch((error) => options.log("worker_restarted", { error: describeError(error) }));
      if (stopping.signal.aborted) return;
      pause = performance.now() - started > LONGEST_PAUSE ? FIRST_PAUSE : Math.min(pause * 2, LONGEST_PAUSE);
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** Resolves when the pool has ended, for whatever reason. */
  async function runOnce(): Promise<void> {
    const events = new EventEmitter() as WorkerEvents;
    let pool: WorkerPool | null = null;
    events.once("pool:create", ({ workerPool }) => {
      pool = workerPool;
      options.engine.attachPool(workerPool.id, events);
    });
    events.on("pool:listen:error", () => options.log("listener_lost"));
    const ended = Promise.withResolvers<void>();
    endOf(events).then(ended.resolve);
    // When the answer to a fetch is lost, its jobs are locked by a pool that does not know of them. Unlocking those that it
    // does know as well costs nothing: whoever comes second finds the mail taken.
    let missed = false;
    // What a pool asks once, the ids of its tasks, it takes for refused for ever when the database refuses it that time.
    let failures = 0;
    events.on("localQueue:getJobs:complete", () => {
      failures = 0;
      if (!missed || pool === null) return;
      missed = false;
      options.engine.store.unlockJobs(pool.id).catch(() => {
        missed = true;
      });
    });
    const logger = graphileLogger(options.log, stopping.signal, () => {
      missed = true;
      failures += 1;
      if (failures >= FAILED_FETCHES) ended.resolve();
    });
    // A pool of ours: Graphile Worker neither waits for the end of its own, nor keeps listening for errors until then.
    const connections = createPool({
      connectionString: options.connectionString,
      applicationName: "posthaste jobs",
      patience: options.patience,
    });
    const runner = await run({
      pgPool: connections,
      preset: { extends: [options.preset], worker: { events, logger } },
      parsedCronItems: options.cronItems,
      noHandleSignals: true,
    }).catch(async (error) => {
      await connections.end();
      throw error;
    });
    // Settles late or never after a fatal error, so only its rejection is of interest, and only for not being unhandled.
    runner.promise.catch(() => undefined);
    let released: Promise<unknown> = Promise.resolve();
    const stop = () => {
      released = runner.stop().catch(() => undefined);
    };
    if (stopping.signal.aborted) stop();
    stopping.signal.addEventListener("abort", stop, { once: true });
    await ended.promise;
    stopping.signal.removeEventListener("abort", stop);
    // The clock of a pool that ended by itself goes on: it would schedule through connections that are closed, and hold the
    // process. Whether Graphile Worker ever comes to an end with this is not waited for.
    if (!stopping.signal.aborted) runner.stop().catch(() => undefined);
    options.engine.detachPool();
    // A clock that holds the process: without one it would end before its time when nothing else does, with code 13.
    const closed = allEnd([released.then(() => connections.end())], LAST_WORDS);
    if (stopping.signal.aborted) return void (await closed);
    options.log("worker_restarted");
    const id = (pool as WorkerPool | null)?.id;
    if (id !== undefined) await options.engine.store.unlockJobs(id);
  }

  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

function endOf(events: WorkerEvents): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of [
    "pool:gracefulShutdown:complete",
    "pool:forcefulShutdown:complete",
    "pool:forcefulShutdown:error",
  ] as const) {
    events.once(event, () => resolve());
  }
  let timer: NodeJS.Timeout | undefined;
  events.once("pool:fatalError", () => {
    timer = setTimeout(resolve, LAST_WORDS);
  });
  return promise.finally(() => clearTimeout(timer));
}

/**
 * Its warnings and errors may quote a job's failure, so only the fact is logged. No event but this line tells of a failed
 * fetch. When it stops while it has jobs fetched ahead, it gives them back and then takes its own doing for a mistake.
 */
function graphileLogger(log: Log, stopping: AbortSignal, onFetchFailed: () => void): Logger {
  return new Logger(() => (level, message, meta) => {
    if (level !== "error") return;
    if (message.startsWith("Error occurred fetching jobs")) onFetchFailed();
    if (stopping.aborted && OF_ITS_OWN_END.test(message)) return;
    log("job_failed", meta?.error ? { error: describeError(meta.error) } : {});
  });
}

const OF_ITS_OWN_END =
  /^(Releasing local queue failed|Deactivation failed|Error occurred during (graceful|forceful) shutdown|Error occurred whilst attempting to release runner options)/;
