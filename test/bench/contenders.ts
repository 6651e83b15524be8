import type pg from "pg";
import { PARAMETERS, RECIPIENT, TEMPLATE } from "./mail.ts";
import { now, type Process } from "./rpc.ts";

/** One way to send the same mails. */
export interface Contender {
  readonly name: "bare loop" | "Graphile Worker" | "Posthaste";
  readonly process: Process;
  /** Gives it so many mails at once; when they became visible to it, just before their COMMIT. */
  begin(count: number): Promise<number>;
  /** When it has nothing left to write down. */
  idle(): Promise<void>;
}

/** React Email and nodemailer, given the mails from memory. */
export function bareLoop(process: Process, database: pg.Pool): Contender {
  return {
    name: "bare loop",
    process,
    async begin(count) {
      const { rows } = await database.query(
        `select ${RECIPIENT} as recipient, ${PARAMETERS} as parameters from generate_series(1, $1::int) n`,
        [count],
      );
      return process.ask<number>("send", rows);
    },
    idle: async () => undefined,
  };
}

/** A plain Graphile Worker task. */
export function graphileTask(process: Process, database: pg.Pool): Contender {
  return {
    name: "Graphile Worker",
    process,
    begin: (count) =>
      committed(
        database,
        `select graphile_worker.add_jobs(array(
           select row('send_email', json_build_object('recipient', ${RECIPIENT}, 'parameters', ${PARAMETERS}),
             null, null, null, null, null, null)::graphile_worker.job_spec
           from generate_series(1, ${count}) n))`,
      ).then(({ before }) => before),
    idle: () => untilNone(database, "select from graphile_worker.jobs limit 1"),
  };
}

/** Posthaste's worker. */
export function posthaste(process: Process, database: pg.Pool): Contender {
  let batch = 0;
  return {
    name: "Posthaste",
    process,
    begin: (count) => {
      batch += 1;
      return committed(
        database,
        `insert into posthaste.email_messages (template, recipients, parameters, idempotency_key, reference)
         select '${TEMPLATE}', array[${RECIPIENT}], ${PARAMETERS}, 'order-confirmed:${batch}-' || n, 'order:' || n
         from generate_series(1, ${count}) n`,
      ).then(({ before }) => before);
    },
    idle: () => untilNone(database, "select from graphile_worker.jobs limit 1"),
  };
}

/** Runs a statement in a transaction; the moments around its COMMIT as the client sees them. */
export async function committed(
  database: pg.Pool,
  statement: string,
): Promise<{ before: number; after: number }> {
  const client = await database.connect();
  try {
    await client.query("begin");
    await client.query(statement);
    const before = now();
    await client.query("commit");
    return { before, after: now() };
  } finally {
    client.release();
  }
}

async function untilNone(database: pg.Pool, statement: string): Promise<void> {
  while ((await database.query(statement)).rowCount !== 0) await new Promise((next) => setTimeout(next, 20));
}
