import { setTimeout as delay } from "node:timers/promises";
import type { OwnDatabase } from "../faults/own-database.ts";
import type { Scene } from "../faults/scene.ts";
import type { WorkerProcess } from "../faults/worker-process.ts";

/** How often what happens, in milliseconds. */
export interface Calendar {
  /** Between two deaths of a worker, at least and at most. */
  readonly kill: readonly [number, number];
  /** Between two times that a worker is stopped for longer than its lease. */
  readonly stall: number;
  /** Between two times that half of all database connections are ended. */
  readonly terminate: number;
  /** Between two crashes of PostgreSQL. */
  readonly restart: number;
}

/** What has happened so far. */
export interface Toll {
  kills: number;
  stalls: number;
  /** Workers that were asked to stop, and of these the ones that did not exit with 0. */
  stops: number;
  badStops: number;
  terminated: number;
  restarts: number;
}

/** Workers that are started again whenever they end, as a service manager does. */
export interface Crew {
  readonly workers: readonly (WorkerProcess | undefined)[];
  /** No more starts; asks all to stop and waits for their end. Returns how many did not exit with 0. */
  close(): Promise<number>;
}

/** Milliseconds before a worker that ended is started again. */
const RESTART_PAUSE = 250;
/** Longer than the scenes' lease. */
const STALL = 5_000;

export function startCrew(scene: Pick<Scene, "process">, size: number): Crew {
  let closing = false;
  const workers: (WorkerProcess | undefined)[] = [];
  const lives = Array.from({ length: size }, async (_, place) => {
    while (!closing) {
      const worker = await scene.process({ started: false });
      workers[place] = worker;
      const { code, signal } = await worker.exited;
      workers[place] = undefined;
      // A process that has not come so far as to heed the signal is ended by it.
      if (closing) return code === 0 || signal === "SIGTERM" ? 0 : 1;
      await delay(RESTART_PAUSE);
    }
    return 0;
  });
  return {
    workers,
    async close() {
      closing = true;
      for (const worker of workers) worker?.kill("SIGTERM");
      const bad: number[] = await Promise.all(lives);
      return bad.reduce((sum, one) => sum + one, 0);
    },
  };
}

/** Makes trouble until it is told to stop. */
export function startTrouble(
  crew: Crew,
  database: OwnDatabase,
  calendar: Calendar,
): { toll: Toll; stop(): Promise<void> } {
  const toll: Toll = { kills: 0, stalls: 0, stops: 0, badStops: 0, terminated: 0, restarts: 0 };
  const over = new AbortController();
  const { signal } = over;

  async function repeat(pause: () => number, work: () => Promise<void>): Promise<void> {
    for (;;) {
      await delay(pause(), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await work();
    }
  }

  function anyWorker(): WorkerProcess | undefined {
    const ready = crew.workers.filter((worker) =>
      worker?.log.lines.some(({ event }) => event === "worker_started"),
    );
    return ready[Math.floor(Math.random() * ready.length)];
  }

  /** kill -9, and now and then a polite request. */
  async function end(): Promise<void> {
    const victim = anyWorker();
    if (!victim) return;
    if (Math.random() < 0.8) {
      toll.kills += 1;
      victim.kill("SIGKILL");
    } else {
      toll.stops += 1;
      victim.kill("SIGTERM");
      const { code, signal } = await victim.exited;
      // One that is stalled meanwhile may be killed by another hand.
      if (code !== 0 && signal === null) toll.badStops += 1;
    }
  }

  async function stall(): Promise<void> {
    const victim = anyWorker();
    if (!victim) return;
    toll.stalls += 1;
    victim.kill("SIGSTOP");
    await Promise.race([delay(STALL), victim.exited]);
    victim.kill("SIGCONT");
  }

  async function terminate(): Promise<void> {
    const ended = await database
      .query(
        "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and random() < 0.5",
      )
      .catch(() => []);
    toll.terminated += ended.length;
  }

  async function restart(): Promise<void> {
    await database.postgres.stop("immediate");
    await database.postgres.start();
    toll.restarts += 1;
  }

  const [least, most] = calendar.kill;
  const loops = [
    repeat(() => least + Math.random() * (most - least), end),
    repeat(() => calendar.stall, stall),
    repeat(() => calendar.terminate, terminate),
    repeat(() => calendar.restart, restart),
  ];
  return {
    toll,
    async stop() {
      over.abort();
      await Promise.all(loops);
    },
  };
}
