import pg from "pg";
import { createTestDatabase, type TestDatabase } from "../database.ts";
import { liveWorker } from "../sql/workers.ts";
import { RESET, SCENE } from "./scene-sql.ts";
import type { Mail, Slot, Transport, World } from "./state.ts";

/** What the database says, in the model's terms. */
export interface Actual {
  readonly now: number;
  readonly slots: ReadonlyMap<
    string,
    { key: { id: string; until: number | null } | null; mail: Mail | null }
  >;
  readonly transport: Transport;
  readonly workers: readonly string[];
  /** Mails that have a job that can run. */
  readonly jobs: ReadonlySet<string>;
}

/** The real system: a database, and a connection for each of the actors. */
export interface Scene {
  readonly database: TestDatabase;
  readonly actors: readonly pg.Client[];
  /** Workers that live now: each is a connection that holds its lock. */
  readonly living: Map<string, { die(): Promise<void> }>;
  read(): Promise<Actual>;
  /** Which of these backends wait for a lock. */
  waiting(pids: readonly number[]): Promise<Set<number>>;
  /** A worker starts, or comes back with the id that it had. */
  start(worker: string): Promise<void>;
  die(worker: string): Promise<void>;
  /** No mail, no job, no key; both workers alive. */
  reset(): Promise<void>;
  /** How often each step of the chart was made since the reset. */
  steps(): Promise<Map<string, number>>;
  close(): Promise<void>;
}

export const WORKERS = ["w1", "w2"] as const;
const ACTORS = 4;
const TEMPLATES = [
  { name: "order-confirmed", version: "1" },
  { name: "login-code", version: "1", secrets: ["code"], on_unknown_outcome: "fail" },
];

/** Makes the database. Its time zone and its plans are those of any other. */
export async function createScene(): Promise<Scene> {
  const database = await createTestDatabase();
  await database.pool.query(SCENE);
  const actors = await Promise.all(
    Array.from({ length: ACTORS }, async (_, n) => {
      const client = new pg.Client({
        connectionString: database.connectionString,
        application_name: `actor ${n}`,
      });
      await client.connect();
      // A deadlock is to be found out soon.
      await client.query("set deadlock_timeout = '100ms'");
      return client;
    }),
  );
  const living: Scene["living"] = new Map();
  const scene: Scene = {
    database,
    actors,
    living,
    async read() {
      const [{ state }] = await database.query("select model.state() as state");
      if (state.wrongNumbers > 0) throw new Error("numbers of attempts are not 1, 2, 3, …");
      const slots = new Map<
        string,
        { key: { id: string; until: number | null } | null; mail: Mail | null }
      >();
      for (const { slot, id, until } of state.keys) slots.set(slot, { key: { id, until }, mail: null });
      for (const { slot, mail } of state.mails) slots.set(slot, { key: slots.get(slot)?.key ?? null, mail });
      return {
        now: state.now,
        slots,
        transport: state.transport,
        workers: state.workers,
        jobs: new Set(state.jobs),
      };
    },
    async waiting(pids) {
      const rows = await database.query(
        "select pid from pg_stat_activity where pid = any ($1) and wait_event_type = 'Lock' and pg_blocking_pids(pid) <> '{}'",
        [pids],
      );
      return new Set(rows.map(({ pid }) => pid));
    },
    async start(worker) {
      living.set(worker, await liveWorker(database, worker, { templates: TEMPLATES }));
    },
    async die(worker) {
      const alive = living.get(worker);
      living.delete(worker);
      await alive?.die();
    },
    async reset() {
      await database.pool.query(RESET);
      for (const worker of WORKERS) if (!living.has(worker)) await scene.start(worker);
    },
    async steps() {
      const rows = await database.query(
        "select old || ' → ' || new as step, count(*)::int as times from model.steps group by 1",
      );
      return new Map(rows.map(({ step, times }) => [step, times]));
    },
    async close() {
      for (const worker of [...living.keys()]) await scene.die(worker);
      await Promise.all(actors.map((client) => client.end()));
    },
  };
  return scene;
}

/** Takes over what was read; the request behind a key is only the model's knowledge. */
export function adopt(world: World, actual: Actual, explained: ReadonlyMap<string, Slot>): void {
  world.slots = new Map(
    [...actual.slots].map(([name, { key, mail }]) => {
      const request = explained.get(name)?.key?.request ?? "";
      return [name, { key: key && { ...key, request }, mail }];
    }),
  );
  world.now = actual.now;
  world.transport = actual.transport;
  world.workers = new Set(actual.workers);
  world.jobs = new Set(actual.jobs);
}
