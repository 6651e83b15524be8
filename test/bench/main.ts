// `npm run bench`: throughput and latency of a worker process, against what the same work costs without it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runMigrations } from "graphile-worker";
import { startEmbedded } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { createPool } from "../../src/database/pool.ts";
import { bareLoop, graphileTask, posthaste } from "./contenders.ts";
import { measureLatency } from "./latency.ts";
import { postgresProcessorTime } from "./processor-time.ts";
import type { RenderingCost } from "./rendering.ts";
import { describe, type Results, ratio } from "./report.ts";
import { startProcess } from "./rpc.ts";
import { beginCounting, COUNT_STATEMENTS, describeStatements } from "./statements.ts";
import { measureThroughput } from "./throughput.ts";

const USAGE = `npm run bench -- [options]
  --mails N     mails of each contender in each round (800)
  --rounds N    rounds (7)
  --lone N      lone mails for the latency (300)
  --json        one JSON document on stdout instead of the tables
  --profile DIR where a processor profile of Posthaste's worker and the statements of its database go`;

const { values: options } = parseArgs({
  options: {
    mails: { type: "string", default: "800" },
    rounds: { type: "string", default: "7" },
    lone: { type: "string", default: "300" },
    json: { type: "boolean", default: false },
    profile: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (options.help) console.log(USAGE);
else await bench();

async function bench(): Promise<void> {
  const [mails, rounds, samples] = [options.mails, options.rounds, options.lone].map(Number) as [
    number,
    number,
    number,
  ];
  const scratch = await mkdtemp(join(tmpdir(), "posthaste-bench-"));
  await using closing = new AsyncDisposableStack();
  closing.defer(() => rm(scratch, { recursive: true, force: true }));

  // PostgreSQL's own settings: a commit is on disk before it returns, as in production.
  const server = await startEmbedded({
    settings: options.profile ? COUNT_STATEMENTS : {},
    announce: (line) => console.error(line),
  });
  closing.defer(() => server.stop());
  const open = (database: string) => {
    const url = new URL(server.connectionString);
    url.pathname = `/${database}`;
    const pool = createPool({ connectionString: url.href, applicationName: "bench", max: 2 });
    closing.defer(() => pool.end());
    return { url: url.href, pool };
  };
  const { pool: admin } = open("postgres");
  await admin.query("create database posthaste_bench");
  await admin.query("create database graphile_bench");
  const ours = open("posthaste_bench");
  const theirs = open("graphile_bench");
  await migrate({ connectionString: ours.url });
  await runMigrations({ connectionString: theirs.url });

  const start = async (file: string, environment: Record<string, string> = {}, execArgv: string[] = []) => {
    const process = await startProcess(file, { scratch, environment, execArgv });
    closing.defer(() => process.stop());
    return process;
  };
  const sink = await start("sink.ts");
  const SMTP_URL = await sink.ask<string>("url");
  const rendering = await (await start("rendering.ts")).ask<RenderingCost[]>("measure", {
    rounds,
    renders: 200,
  });
  const profiler = options.profile ? ["--cpu-prof", `--cpu-prof-dir=${options.profile}`] : [];
  const bare = await start("bare.ts", { SMTP_URL });
  const graphile = await start("graphile.ts", { SMTP_URL, DATABASE_URL: theirs.url });
  const worker = await start("posthaste.ts", { SMTP_URL, DATABASE_URL: ours.url }, profiler);

  const throughput = await measureThroughput({
    contenders: [bareLoop(bare, admin), graphileTask(graphile, theirs.pool), posthaste(worker, ours.pool)],
    sink,
    mails,
    rounds,
    warmUp: 500,
    postgresTime: await postgresProcessorTime(admin),
    // As autovacuum does within a minute: a database that has sent mail before has statistics.
    async onWarm() {
      for (const { pool } of [ours, theirs]) await pool.query("vacuum analyze");
      if (options.profile) await beginCounting(ours.pool);
    },
    onRound: (line) => console.error(line),
  });
  if (options.profile) {
    const statements = await describeStatements(ours.pool, rounds * mails);
    await writeFile(join(options.profile, "statements.txt"), statements);
  }
  const latency = await measureLatency({
    posthaste: ours.pool,
    graphile: theirs.pool,
    processes: { bare, graphile, sink },
    samples,
  });
  const results: Results = {
    mails,
    rounds,
    size: await sink.ask<number>("meanSize"),
    throughput,
    ratios: {
      toBareLoop: ratio(throughput, "bare loop"),
      toGraphileWorker: ratio(throughput, "Graphile Worker"),
    },
    samples,
    latency,
    rendering,
  };
  console.log(options.json ? JSON.stringify(results, null, 2) : describe(results));
}
