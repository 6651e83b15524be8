import type pg from "pg";
import { createPool } from "../../src/database/pool.ts";
import { createRetention } from "../../src/database/retention.ts";
import { type Purged, purge } from "../../src/worker/purge.ts";
import { posthaste } from "./contenders.ts";
import { fillHistory } from "./history.ts";
import type { Process } from "./rpc.ts";
import { median } from "./statistics.ts";

const DAY = 86_400_000;

/** What a purge did to those who send, and to what waits. */
export interface PurgeLoad {
  readonly mode: "delete" | "archive";
  readonly purged: Purged;
  /** Seconds. */
  readonly took: number;
  /** Milliseconds of each transaction. */
  readonly steps: readonly number[];
  /** Mails per second, median of the rounds before, during and after. */
  readonly before: number;
  readonly during: number;
  readonly after: number;
  /** Rounds of sending that lay wholly within the purge. */
  readonly roundsDuring: number;
  /** Whether every waiting row is the very version that it was. */
  readonly waitingUntouched: boolean;
}

/** Sends the same mails before, while and after old rows are purged, and looks at what waits. */
export async function measurePurge(options: {
  database: pg.Pool;
  connectionString: string;
  worker: Process;
  sink: Process;
  mode: "delete" | "archive";
  /** Old rows to purge. */
  old: number;
  /** Rows that wait, old enough to be purged if they had ended. */
  waiting: number;
  /** Mails in a round, and rounds before and after. */
  mails: number;
  rounds: number;
  onRound: (line: string) => void;
}): Promise<PurgeLoad> {
  const { database, sink, mode, mails, onRound } = options;
  await fillHistory(database, { sent: options.old, waiting: options.waiting });
  const waitingRows = await fingerprint(database);
  const sender = posthaste(options.worker, database);
  const round = async (name: string) => {
    const accepted = sink.ask<number>("accepted", mails);
    const began = await sender.begin(mails);
    const rate = mails / (((await accepted) - began) / 1000);
    onRound(`${mode}, ${name}: ${Math.round(rate)}/s`);
    return rate;
  };
  const several = async (name: string) => {
    const rates: number[] = [];
    while (rates.length < options.rounds) rates.push(await round(name));
    return rates;
  };

  await round("warm-up");
  const before = await several("before");
  const pool = createPool({ connectionString: options.connectionString, applicationName: "purge", max: 1 });
  const steps: number[] = [];
  const retention = createRetention(timed(pool, steps));
  const began = performance.now();
  let took = 0;
  const settings = {
    sent: 90 * DAY,
    failed: 180 * DAY,
    cancelled: 30 * DAY,
    keys: 90 * DAY,
    budget: 23 * 3_600_000,
  };
  const running = purge(retention, { ...settings, mode }, { deleteFile: async () => undefined }).finally(
    () => {
      took = (performance.now() - began) / 1000;
    },
  );
  const during: number[] = [];
  while (took === 0) {
    const rate = await round("during");
    if (took === 0) during.push(rate);
  }
  const purged = await running;
  await pool.end();
  const after = await several("after");
  return {
    mode,
    purged,
    took,
    steps,
    before: median(before),
    during: median(during),
    after: median(after),
    roundsDuring: during.length,
    waitingUntouched: (await fingerprint(database)) === waitingRows,
  };
}

/** Of every waiting row of the past, its content and the transaction that wrote it. */
async function fingerprint(database: pg.Pool): Promise<string> {
  const { rows } = await database.query(
    `select count(*) || ':' || coalesce(sum(hashtextextended(m::text || m.xmin || m.ctid, 0)::numeric), 0) as text
     from posthaste.email_messages m where m.status = 'PENDING' and m.created_at < now() - interval '99 days'`,
  );
  return rows[0].text;
}

/** The same pool, with the milliseconds of each statement: each is a transaction of its own. */
function timed(pool: pg.Pool, steps: number[]): pg.Pool {
  const query = async (text: string, values: unknown[]) => {
    const began = performance.now();
    try {
      return await pool.query(text, values);
    } finally {
      steps.push(performance.now() - began);
    }
  };
  return { query } as unknown as pg.Pool;
}
