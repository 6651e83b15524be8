import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { validateConfiguration } from "../../src/configuration/validate.ts";
import type { PosthasteOptions } from "../../src/index.ts";
import { createLog } from "../../src/log.ts";
import { startWorker, type Worker } from "../../src/worker/worker.ts";
import { createTestDatabase } from "../database.ts";
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from "../smtp-server.ts";
import { eventually } from "./eventually.ts";
import { brokenInvariants } from "./invariants.ts";
import { type Ledger, readLedger } from "./ledger.ts";
import { createLogLines, type LogLines } from "./log-lines.ts";
import { type Mails, mailsOf, type SceneDatabase } from "./mails.ts";
import { type FaultyProxy, startProxy } from "./proxy.ts";
import { type KeptWorker, keepWorker } from "./service-manager.ts";
import { spawnWorker, type WorkerProcess } from "./worker-process.ts";

/** A database, a mail server and templates, with workers to be started between them. */
export interface Scene extends Mails {
  readonly database: SceneDatabase;
  readonly server: SmtpServer;
  /** Configuration of the workers, with what `startScene` was given. */
  readonly options: PosthasteOptions;
  /** Folder of the journal. */
  readonly journal: string;
  /** Starts a proxy to the server of this URL. */
  proxyTo(url: string): Promise<FaultyProxy>;
  /** Starts a worker process; resolves when it sends mail. */
  process(changes?: WorkerChanges): Promise<WorkerProcess>;
  /** Keeps a worker process running, as a service manager does. */
  kept(changes?: WorkerChanges): KeptWorker;
  /** Starts a worker in this process: one at a time. */
  here(changes?: WorkerChanges): Promise<{ worker: Worker; log: LogLines; stop(): Promise<void> }>;
  /** Fails when an invariant is broken, or the ledger has anything that the test does not expect. */
  verify(expected?: Partial<Ledger>): Promise<void>;
}

/** What differs from the scene's own configuration. */
export interface WorkerChanges {
  readonly options?: PosthasteOptions;
  readonly connectionString?: string;
  readonly crashAt?: string;
  /** As in `WorkerProcessOptions`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Milliseconds between two polls for jobs, for `here`. Default: Posthaste's own. */
  readonly pollInterval?: number;
  /** Resolve at once, not when mail is being sent. */
  readonly started?: false;
}

/** Templates that cost no time: `plain` says its number, and `once` is never sent a second time on a guess. */
const TEMPLATES = {
  "plain.tsx": plain(""),
  "once.tsx": plain('export const onUnknownOutcome = "fail";'),
};

/** Short times, so that nobody waits for a lease of a minute. */
const QUICK = {
  from: "Shop <no-reply@shop.example>",
  lease: 3000,
  maintenanceInterval: 1000,
  shutdownGrace: 5000,
  retry: { delays: [50] },
  breaker: { probe: 200, maxProbe: 400 },
} as const satisfies PosthasteOptions;

/**
 * Makes a scene for one test, and takes it away after it.
 * @param t the test, or whatever else says when it is over
 * @param setting.templates more templates: path below the folder → source
 * @param setting.database default: one of its own in the server of the run
 */
export async function startScene(
  t: { after(close: () => Promise<void>): void },
  setting: {
    smtp?: SmtpServerOptions;
    templates?: Readonly<Record<string, string>>;
    options?: PosthasteOptions;
    database?: SceneDatabase;
  } = {},
): Promise<Scene> {
  // Hooks run in the order in which they were made, and the database must go last.
  const closers: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const close of closers.reverse()) await close();
  });
  const later = { after: (close: () => Promise<void>) => void closers.push(close) };
  const database = setting.database ?? (await createTestDatabase(later));
  if (setting.database?.close) closers.push(setting.database.close);
  const server = await startSmtpServer(setting.smtp);
  closers.push(() => server.close());
  const home = await mkdtemp(join(tmpdir(), "posthaste-scene-"));
  closers.push(() => rm(home, { recursive: true, force: true }));
  for (const [file, source] of Object.entries({ ...TEMPLATES, ...setting.templates })) {
    await mkdir(dirname(join(home, "emails", file)), { recursive: true });
    await writeFile(join(home, "emails", file), source);
  }
  const options: PosthasteOptions = {
    ...QUICK,
    emails: join(home, "emails"),
    journal: join(home, "journal"),
    transports: { default: { url: server.url } },
    ...setting.options,
  };

  const scene: Scene = {
    database,
    server,
    options,
    journal: join(home, "journal"),
    async proxyTo(url) {
      const proxy = await startProxy(url);
      closers.push(proxy.close);
      return proxy;
    },
    async process(changes = {}) {
      const worker = spawnWorker({
        connectionString: changes.connectionString ?? database.connectionString,
        options: { ...options, ...changes.options },
        crashAt: changes.crashAt,
        environment: changes.environment,
      });
      closers.push(worker.end);
      if (changes.started !== false) await worker.log.line("worker_started");
      return worker;
    },
    kept(changes = {}) {
      const kept = keepWorker(() => scene.process({ ...changes, started: false }));
      closers.push(kept.stop);
      return kept;
    },
    async here(changes = {}) {
      const log = createLogLines();
      const stream = new Writable({
        write(chunk, _encoding, done) {
          log.write(String(chunk));
          done();
        },
      });
      const worker = await startWorker({
        config: valid({ ...options, ...changes.options }),
        connectionString: changes.connectionString ?? database.connectionString,
        log: createLog({ stream, format: "json" }),
        preset: { worker: changes.pollInterval ? { pollInterval: changes.pollInterval } : {} },
      });
      let stopped: Promise<void> | undefined;
      const stop = () => {
        stopped ??= worker.stop();
        return stopped;
      };
      closers.push(stop);
      return { worker, log, stop };
    },
    ...mailsOf(database),
    async verify(expected = {}) {
      const none = { waiting: [], lost: [], duplicated: [], unflagged: [], unrecorded: [], unexpected: [] };
      // A server has a message before its acceptance is on record.
      await settled({ ...none, ...expected }, () => readLedger(database, server.accepted));
      // What a crash has just left behind is maintenance's to mend; it runs each second.
      await settled({}, () => brokenInvariants(database, 1000));
    },
  };
  return scene;
}

/** Fails when what is found does not become what is expected within a few seconds. */
async function settled(expected: object, find: () => Promise<object>): Promise<void> {
  let found: object | null = null;
  await eventually(
    "it is as expected",
    async () => {
      found = await find();
      return isDeepStrictEqual(found, expected);
    },
    6000,
  ).catch(() => assert.deepEqual(found, expected));
}

/** The validated configuration of these options. */
function valid(options: PosthasteOptions) {
  const { config, problems } = validateConfiguration({
    options,
    directory: "/",
    environment: {},
    sends: true,
  });
  assert.deepEqual(problems, []);
  return config;
}

/** A template that says its parameter `n`. */
function plain(more: string): string {
  return `${more}
export const subject = ({ n }) => "Number " + n;
export default function Mail({ n }) {
  return <html><body><p>This is number {n}.</p></body></html>;
}
`;
}
