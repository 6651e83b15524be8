import { setTimeout as delay } from "node:timers/promises";
import { createPool } from "../../src/database/pool.ts";

/** An application that goes on enqueuing, whatever happens to its database. */
export interface Producer {
  /** Keys of the mail that the database has said is enqueued. */
  readonly promised: readonly string[];
  /** Transactions that were rolled back with mail in them. */
  readonly takenBack: number;
  /** Statements that failed and were made again. */
  readonly failures: number;
  /** Resolves when it has stopped. */
  stop(): Promise<void>;
}

const BATCH = 5;

/** Starts it. @param options.rate mails in a second */
export function startProducer(options: { connectionString: string; rate: number }): Producer {
  const pool = createPool({
    connectionString: options.connectionString,
    applicationName: "producer",
    max: 4,
  });
  const promised: string[] = [];
  let takenBack = 0;
  let failures = 0;
  let number = 0;
  let stopping = false;
  const under = new Set<Promise<void>>();

  /** A commit whose answer is lost may have happened: the key makes it safe to say everything again. */
  async function insist(work: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await work();
        return;
      } catch {
        failures += 1;
        await delay(200);
      }
    }
  }

  async function produce(first: number): Promise<void> {
    const numbers = Array.from({ length: BATCH }, (_, index) => first + index);
    const keys = numbers.map((n) => `soak:${n}`);
    if (first % 3 === 0) await insist(() => insertTogether(keys));
    else for (const key of keys) await insist(() => enqueueOne(key));
    promised.push(...keys);
    if (first % 4 === 0) await takeBack(first).catch(() => undefined);
  }

  function enqueueOne(key: string): Promise<unknown> {
    const n = Number(key.slice(5));
    return pool.query(
      "select posthaste.enqueue(template => $1, recipients => $2, cc => $3, parameters => jsonb_build_object('n', $4::int), idempotency_key => $5)",
      [
        n % 20 === 1 ? "once" : "plain",
        [`a${n}@customer.example`],
        n % 5 === 0 ? [`b${n}@customer.example`] : [],
        n,
        key,
      ],
    );
  }

  function insertTogether(keys: readonly string[]): Promise<unknown> {
    return pool.query(
      `insert into posthaste.email_messages (template, recipients, parameters, idempotency_key)
       select 'plain', array[format('c%s@customer.example', k), format('d%s@customer.example', k)], jsonb_build_object('n', k), 'soak:' || k
       from unnest($1::int[]) k on conflict do nothing`,
      [keys.map((key) => Number(key.slice(5)))],
    );
  }

  /** A business change that fails after its mail was enqueued. Its key is used nowhere else, so nobody may ever get it. */
  async function takeBack(first: number): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query("begin");
      await client.query(
        "select posthaste.enqueue('plain', 'nobody@customer.example', idempotency_key => $1)",
        [`taken back:${first}`],
      );
      await client.query("rollback");
      takenBack += 1;
    } finally {
      client.release(true);
    }
  }

  const timer = setInterval(
    () => {
      // An application waits for its database, too.
      if (stopping || under.size >= 20) return;
      const one = produce(number).finally(() => under.delete(one));
      number += BATCH;
      under.add(one);
    },
    (1000 * BATCH) / options.rate,
  );
  return {
    promised,
    get takenBack() {
      return takenBack;
    },
    get failures() {
      return failures;
    },
    async stop() {
      stopping = true;
      clearInterval(timer);
      await Promise.all(under);
      await pool.end();
    },
  };
}
