// `node --conditions=posthaste-source test/bench/purge.ts [old rows]`: a purge of years of mail while a worker sends.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { createPool } from "../../src/database/pool.ts";
import { measurePurge, type PurgeLoad } from "./purge-load.ts";
import { startProcess } from "./rpc.ts";
import { percentile } from "./statistics.ts";

const [old = 500_000, mails = 1000] = process.argv.slice(2).map(Number);

await using closing = new AsyncDisposableStack();
const scratch = await mkdtemp(join(tmpdir(), "posthaste-bench-"));
closing.defer(() => rm(scratch, { recursive: true, force: true }));
// PostgreSQL's own settings: a commit is on disk before it returns, as in production.
const server = await startEmbedded({ announce: (line) => console.error(line) });
closing.defer(() => server.stop());
const sink = await startProcess("sink.ts", { scratch });
closing.defer(() => sink.stop());
const SMTP_URL = await sink.ask<string>("url");

for (const mode of ["delete", "archive"] as const) {
  const url = new URL(server.connectionString);
  const admin = createPool({ connectionString: url.href, applicationName: "bench", max: 1 });
  await admin.query(`create database purge_${mode}`);
  await admin.end();
  url.pathname = `/purge_${mode}`;
  await migrate({ connectionString: url.href });
  const database = createPool({ connectionString: url.href, applicationName: "bench", max: 2 });
  const worker = await startProcess("posthaste.ts", {
    scratch,
    environment: { SMTP_URL, DATABASE_URL: url.href },
  });
  const load = await measurePurge({
    database,
    connectionString: url.href,
    worker,
    sink,
    mode,
    old,
    waiting: Math.round(old / 25),
    mails,
    rounds: 7,
    onRound: (line) => console.error(line),
  });
  console.log(describe(load));
  await worker.stop();
  await database.end();
}

function describe({
  mode,
  purged,
  took,
  steps,
  before,
  during,
  after,
  roundsDuring,
  waitingUntouched,
}: PurgeLoad): string {
  const ms = (share: number) => `${Math.round(percentile(steps, share))} ms`;
  return [
    `${mode}: ${purged.emails.SENT} rows in ${Math.round(took)} s, ${steps.length} transactions`,
    `  transaction: median ${ms(0.5)}, 99 % ${ms(0.99)}, longest ${ms(1)}`,
    `  the longest three, and when they came: ${longest(steps)}`,
    `  mails per second: ${Math.round(before)} before, ${Math.round(during)} during (${roundsDuring} rounds), ${Math.round(after)} after; ${(during / before).toFixed(2)} of before`,
    `  waiting rows untouched: ${waitingUntouched}`,
  ].join("\n");
}

/** `512 ms as 3 of 511`: whether a stall came by chance, or where one always comes. */
function longest(steps: readonly number[]): string {
  const ordered = steps
    .map((took, index) => ({ took, place: index + 1 }))
    .toSorted((a, b) => b.took - a.took);
  return ordered
    .slice(0, 3)
    .map(({ took, place }) => `${Math.round(took)} ms as ${place} of ${steps.length}`)
    .join(", ");
}
