import type pg from "pg";
import { createPool } from "../../src/database/pool.ts";
import { createRetention } from "../../src/database/retention.ts";
import { type Purged, purge } from "../../src/worker/purge.ts";
import { posthaste } from "./contenders.ts";
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
  await fill(database, options.old, options.waiting);
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

/** Past years: sent mail, each with its attempt, index entry and key; and as much of it waiting as is asked for. */
async function fill(database: pg.Pool, old: number, waiting: number): Promise<void> {
  const client = await database.connect();
  try {
    // Without triggers: they would make the rows those of today, and it would take minutes.
    await client.query("set session_replication_role = replica");
    await client.query(
      `insert into posthaste.email_messages (id, status, template, parameters, recipients, idempotency_key, reference, send_at, next_attempt_at,
         max_attempts, attempt_count, delivered_to, message_id, subject, provider_response, transport_used, created_at, sent_at, finished_at)
       select posthaste.new_id(), case when n <= $1::int then 'SENT' else 'PENDING' end, 'order-confirmed',
         jsonb_build_object('number', n, 'items', repeat('x', 300)), array['p' || n || '@customer.example'], 'old:' || n, 'order:' || n,
         t.at, case when n <= $1 then t.at else t.at + interval '10 years' end, 8, 1, array['p' || n || '@customer.example'], '<' || n || '@shop.example>', 'Your order ' || n,
         '250 2.0.0 Ok', 'default', t.at, case when n <= $1 then t.at end, case when n <= $1 then t.at end
       from generate_series(1, $1 + $2::int) n, lateral (select now() - interval '100 days' - n * interval '10 seconds') t(at)`,
      [old, waiting],
    );
    await client.query(
      `insert into posthaste.email_attempts (email_id, number, worker, started_at, outcome, phase)
       select id, 1, 'w', created_at, 'sent', 'final_dot' from posthaste.email_messages
       where status = 'SENT' and created_at < now() - interval '99 days'`,
    );
    await client.query(
      `insert into posthaste_private.recipient_index (address, email_id, created_at)
       select recipients[1], id, created_at from posthaste.email_messages where created_at < now() - interval '99 days'`,
    );
    await client.query(
      `insert into posthaste_private.idempotency_keys (key, email_id, fingerprint)
       select idempotency_key, id, sha256(id::text::bytea) from posthaste.email_messages where created_at < now() - interval '99 days'`,
    );
    await client.query("reset session_replication_role");
    await client.query("vacuum analyze");
  } finally {
    client.release();
  }
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
