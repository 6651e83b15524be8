// `npm run load -- [options]`: what the SQL of a mail costs beside much other mail.
import { parseArgs } from "node:util";
import { startEmbedded } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { createPool } from "../../src/database/pool.ts";
import { fillHistory } from "./history.ts";
import { type Cost, GROUP, measureSteps } from "./load-claims.ts";
import { measureSnapshot } from "./load-snapshot.ts";
import { measureStorage, type Storage } from "./load-storage.ts";

const USAGE = `load.ts [options]
  --only PARTS     of snapshot, steps, storage; separated by commas (all of them)
  --history N      mails that were sent long ago (1000000)
  --waiting N      mails that are due, and as many that are due later (500000)
  --samples N      single mails and groups in each database (400)
  --mails N        mails for the storage figures (200000)
  --settings LIST  storage parameters of email_messages to compare, separated by semicolons (as they are)`;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "steps,snapshot,storage" },
    history: { type: "string", default: "1000000" },
    waiting: { type: "string", default: "500000" },
    samples: { type: "string", default: "400" },
    mails: { type: "string", default: "200000" },
    settings: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});

await using closing = new AsyncDisposableStack();
if (options.help) console.log(USAGE);
else {
  // PostgreSQL's own settings: a commit is on disk before it returns, as in production.
  const server = await startEmbedded({ announce: (line) => console.error(line) });
  closing.defer(() => server.stop());
  const parts = options.only.split(",");
  // Before there are gigabytes for a checkpoint to write.
  if (parts.includes("snapshot")) await snapshot(server.connectionString);
  if (parts.includes("steps")) await steps(server.connectionString);
  if (parts.includes("storage")) await storage(server.connectionString);
}

async function steps(server: string): Promise<void> {
  const [history, waiting] = [Number(options.history), Number(options.waiting)];
  const empty = await open(server, "steps_empty");
  const old = await open(server, "steps_old");
  await fillHistory(old.pool, { sent: history });
  const full = await open(server, "steps_full");
  await fillHistory(full.pool, { sent: history });
  await fillHistory(full.pool, { sent: 0, waiting, due: "-1 hour" });
  await fillHistory(full.pool, { sent: 0, waiting, due: "10 days" });
  const names = ["nothing else", `${history} sent`, `${history} sent, ${waiting} due, ${waiting} due later`];
  const found = await measureSteps(
    Object.fromEntries([empty, old, full].map(({ pool }, index) => [names[index], pool])),
    Number(options.samples),
  );
  console.log(`\nMilliseconds of each step (median, 95th percentile), ${options.samples} samples in turn`);
  for (const [name, { single, group }] of Object.entries(found))
    for (const [what, costs] of [
      ["one mail", single],
      [`${GROUP} mails`, group],
    ] as const) {
      const cells = Object.entries(costs).map(([step, cost]) => `${step} ${text(cost)}`);
      console.log(`  ${name}, ${what}: ${cells.join("; ")}`);
    }
  const [base, ...others] = Object.values(found);
  for (const other of others)
    console.log(
      `  claim p95 as a multiple of the first: one mail ${(other.single.claim.p95 / base!.single.claim.p95).toFixed(2)}, ${GROUP} mails ${(other.group.claim.p95 / base!.group.claim.p95).toFixed(2)} (aim: at most 1.5)`,
    );
}

async function snapshot(server: string): Promise<void> {
  const { url } = await open(server, "snapshot");
  console.log("\nA foreign snapshot, held for 60 s, at 200 mails/s; milliseconds (median, 95th percentile)");
  await measureSnapshot({
    connectionString: url,
    rate: 200,
    seconds: 20,
    onPhase: ({ name, mails, claim, wait, deadEmails, deadJobs }) =>
      console.log(
        `  ${name}: ${mails} mails; claim ${text(claim)}; enqueue to claim ${text(wait)}; dead rows: ${deadEmails} emails, ${deadJobs} jobs`,
      ),
  });
}

async function storage(server: string): Promise<void> {
  console.log(`\n${options.mails} mails in groups of ${GROUP}, 4 at a time`);
  for (const [index, setting] of options.settings.split(";").entries()) {
    const { pool } = await open(server, `storage_${index}`);
    if (setting) await pool.query(`alter table posthaste.email_messages set (${setting})`);
    describe(setting || "as they are", await measureStorage(pool, Number(options.mails)));
  }
}

function describe(setting: string, found: Storage): void {
  const mb = (octets: number) => `${(octets / 2 ** 20).toFixed(0)} MB`;
  console.log(
    `  ${setting}: ${found.perSecond.toFixed(0)}/s; HOT ${(found.hot * 100).toFixed(1)} %; dead rows at most ${found.mostDead}, in the end ${found.dead}; table ${mb(found.table)}, indexes ${mb(found.indexes)}; WAL ${(found.walPerMail / 1024).toFixed(1)} KiB a mail; ${found.vacuums} autovacuums`,
  );
}

function text({ median, p95 }: Cost): string {
  return `${median.toFixed(2)}, ${p95.toFixed(2)}`;
}

/** A database of its own with Posthaste's schema. */
async function open(server: string, name: string) {
  const url = new URL(server);
  const admin = createPool({ connectionString: url.href, applicationName: "bench", max: 1 });
  await admin.query(`create database ${name}`);
  await admin.end();
  url.pathname = `/${name}`;
  await migrate({ connectionString: url.href });
  const pool = createPool({ connectionString: url.href, applicationName: "bench", max: 6 });
  closing.defer(() => pool.end());
  return { url: url.href, pool };
}
