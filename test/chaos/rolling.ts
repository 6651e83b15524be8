import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bareEnvironment } from "../bare-environment.ts";
import { median, percentile } from "../bench/statistics.ts";
import { eventually } from "../faults/eventually.ts";
import type { LogLine } from "../faults/log-lines.ts";
import type { SceneDatabase } from "../faults/mails.ts";
import { type Exit, type WorkerProcess, watchWorker } from "../faults/worker-process.ts";
import type { Script } from "../smtp-server.ts";
import { type Account, accountOf } from "./account.ts";
import { command, type Ended, ended, type Installed, install } from "./installed.ts";
import { makeNextVersion, THIS_VERSION } from "./next-version.ts";
import { startOrders } from "./orders.ts";
import { onStage } from "./stage.ts";

/** What a rolling deploy came to. Times in milliseconds. */
export interface Rolling extends Account {
  readonly restarts: number;
  /** How the workers ended that were asked to. */
  readonly exits: readonly Exit[];
  /** Mails that these were sending when they were asked. */
  readonly underWay: number;
  /** Mail by template and how it ended: `plain SENT` → mails. */
  readonly ends: Readonly<Record<string, number>>;
  /** Versions of `plain` that mail was sent with. */
  readonly versions: number;
  /** Warnings and errors in the workers' logs: event → lines. */
  readonly complaints: Readonly<Record<string, number>>;
  /** Statements of the application that failed. */
  readonly failures: readonly string[];
  /** The next version's worker on this version's schema, and this one's on the next. */
  readonly tooEarly: Ended;
  readonly tooLate: Ended;
  readonly migration: { readonly took: number; readonly longestEnqueue: number };
  readonly enqueue: { readonly median: number; readonly longest: number };
  /** Between two acceptances, while mail was enqueued all the time. */
  readonly longestPause: number;
  /** From COMMIT to acceptance. */
  readonly wait: { readonly median: number; readonly p95: number; readonly longest: number };
}

const WORKERS = 4;

/** Mails that wait when a worker is asked to stop, so that it has its hands full. */
const CROWD = 100;

const SLOW: Script = {
  async dot() {
    await delay(20 + Math.random() * 60);
    return undefined;
  },
};

const MIGRATION_WAITS =
  "select from pg_stat_activity where datname = current_database() and application_name = 'posthaste migrate' and wait_event = 'relation'";

/**
 * Four workers of this version send what an application enqueues all the time. Then the next version is deployed: its
 * migrations and functions by its own \`posthaste migrate\`, and its workers one after another, each old one by SIGTERM. The
 * next version has changed one template, has a new one, and lacks one.
 * @param options.restarts at least as many as workers; the later ones restart the next version
 * @param options.pause milliseconds between two statements of the application
 * @param options.held milliseconds for which the migration waits for a foreign transaction that has read the table
 */
export function rollingDeploy(options: {
  restarts: number;
  pause: number;
  held: number;
  onProgress?: (line: string) => void;
}): Promise<Rolling> {
  const { onProgress = () => undefined } = options;
  return onStage({ smtp: { keepRaw: false, script: SLOW } }, async (scene) => {
    await using closing = new AsyncDisposableStack();
    const later = { after: (close: () => Promise<void>) => void closing.defer(close) };
    const home = await mkdtemp(join(tmpdir(), "posthaste-rolling-"));
    closing.defer(() => rm(home, { recursive: true, force: true }));
    const next = await makeNextVersion(later);
    const { server, database } = scene;
    const templates = { plain: "Before", leaving: "Going" };
    const before = await install(THIS_VERSION, join(home, "before"), { templates, concurrency: 20 });
    const after = await install(next, join(home, "after"), {
      templates: { plain: "After", arriving: "New" },
      concurrency: 10,
    });
    const environment = {
      ...bareEnvironment,
      NODE_ENV: "production",
      DATABASE_URL: database.connectionString,
      SMTP_URL: server.url,
    };

    const everyone: WorkerProcess[] = [];
    const start = async (installed: Installed) => {
      const worker = watchWorker(command(installed, environment, "worker"));
      closing.defer(worker.end);
      everyone.push(worker);
      await worker.log.line("worker_started");
      return worker;
    };
    const exits: Exit[] = [];
    let underWay = 0;
    const end = async (worker: WorkerProcess) => {
      underWay += await sendingBy(database, worker);
      worker.kill("SIGTERM");
      exits.push(await worker.exited);
    };

    const workers = await Promise.all(Array.from({ length: WORKERS }, () => start(before)));
    const tooEarly = await ended(command(after, environment, "worker"));
    const orders = startOrders({
      connectionString: database.connectionString,
      templates: ["plain", "leaving"],
      pause: options.pause,
    });
    closing.defer(() => orders.stop());
    await server.messages(100);
    onProgress("mail is flowing");

    const migrating = performance.now();
    const reader = await database.pool.connect();
    await reader.query("begin; select from posthaste.email_messages limit 1");
    const migration = ended(command(after, environment, "migrate"));
    await eventually("the migration waits for the reader", async () => {
      return (await database.query(MIGRATION_WAITS)).length > 0;
    });
    await delay(options.held);
    await reader.query("commit");
    reader.release();
    const migrated = await migration;
    const took = performance.now() - migrating;
    if (migrated.code !== 0) throw new Error(migrated.said);
    const tooLate = await ended(command(before, environment, "worker"));
    onProgress(`migrated in ${Math.round(took)} ms`);

    for (let turn = 0; turn < options.restarts; turn++) {
      // The application no longer uses what goes before its last worker goes, and uses what is new when a worker has it.
      if (turn === WORKERS - 2) orders.templates = ["plain", "arriving"];
      const place = turn % WORKERS;
      const old = workers[place] as WorkerProcess;
      if (turn % 2 === 0) {
        workers[place] = await start(after);
        await scene.enqueueMany(CROWD);
        await end(old);
      } else {
        await scene.enqueueMany(CROWD);
        await end(old);
        workers[place] = await start(after);
      }
      onProgress(`restart ${turn + 1}: exit code ${exits.at(-1)?.code}, ${server.accepted.length} mails`);
    }
    await orders.stop();
    const stopped = performance.now();
    await scene.drained();
    await Promise.all(workers.map(end));

    const moments = server.accepted.map(({ at }) => at).filter((at) => at <= stopped);
    const acceptedAt = new Map(server.accepted.map(({ messageId, at }) => [idOf(messageId), at]));
    const waits = [...orders.committed].map(([id, at]) => (acceptedAt.get(id) ?? Number.NaN) - at);
    const enqueues = orders.statements.map(({ took: each }) => each);
    const during = orders.statements.filter(
      ({ began, took: each }) => began + each > migrating && began < migrating + took,
    );
    const [{ versions }] = await database.query(
      "select count(distinct template_version)::int as versions from posthaste.email_messages where template = 'plain'",
    );
    return {
      ...(await accountOf(scene)),
      restarts: options.restarts,
      exits,
      underWay,
      ends: await endsOf(database),
      versions,
      complaints: complaintsOf(everyone.flatMap(({ log }) => log.lines)),
      failures: orders.failures,
      tooEarly,
      tooLate,
      migration: { took, longestEnqueue: Math.max(...during.map(({ took: each }) => each)) },
      enqueue: { median: median(enqueues), longest: Math.max(...enqueues) },
      longestPause: Math.max(...moments.slice(1).map((at, index) => at - (moments[index] ?? at))),
      wait: { median: median(waits), p95: percentile(waits, 0.95), longest: Math.max(...waits) },
    };
  });
}

/** The figures in words. */
export function describeRolling(found: Rolling): string[] {
  const { enqueue, migration, wait } = found;
  const ms = (time: number) => `${Math.round(time).toLocaleString("en")} ms`;
  return [
    `${found.mails} mails, ${found.restarts} restarts one after another and ${found.exits.length - found.restarts} stops in the end, with ${found.underWay} mails under way; ${found.exits.filter(({ code }) => code === 0).length} exit codes of 0`,
    `lost ${found.lost}, second copies ${found.secondCopies}, flagged ${found.flagged}; ${Object.entries(
      found.ends,
    )
      .map(([end, count]) => `${end} ${count}`)
      .join(", ")}`,
    `longest pause between two acceptances ${ms(found.longestPause)}`,
    `from COMMIT to acceptance: median ${ms(wait.median)}, 95th percentile ${ms(wait.p95)}, longest ${ms(wait.longest)}`,
    `enqueueing: median ${ms(enqueue.median)}, longest ${ms(enqueue.longest)}; while migrating (${ms(migration.took)}) longest ${ms(migration.longestEnqueue)}`,
    `warnings and errors: ${JSON.stringify(found.complaints)}`,
  ];
}

async function sendingBy(database: SceneDatabase, { pid }: WorkerProcess): Promise<number> {
  const [{ sending }] = await database.query(
    "select count(*)::int as sending from posthaste.email_messages where status = 'SENDING' and locked_by like '%-' || $1::int || '-%'",
    [pid],
  );
  return sending;
}

async function endsOf(database: SceneDatabase): Promise<Record<string, number>> {
  const rows = await database.query(
    "select concat_ws(' ', template, status, error_code) as how, count(*)::int from posthaste.email_messages group by 1 order by 1",
  );
  return Object.fromEntries(rows.map(({ how, count }) => [how, count]));
}

function complaintsOf(lines: readonly LogLine[]): Record<string, number> {
  const complaints: Record<string, number> = {};
  for (const { event, level, code, error, suppressed } of lines) {
    if (level !== "warn" && level !== "error") continue;
    const what = [event, code, error].filter(Boolean).join(" ");
    complaints[what] = (complaints[what] ?? 0) + 1 + Number(suppressed ?? 0);
  }
  return complaints;
}

/** Message-IDs begin with the id. */
function idOf(messageId: string): string {
  return messageId.replace(/^<|@.*$/g, "");
}
