import { setTimeout as delay } from "node:timers/promises";
import { createPool } from "../../src/database/pool.ts";

/** An application that enqueues mail at a steady pace. */
export interface Orders {
  /** Templates of the mail from now on, in turn. */
  templates: readonly string[];
  /** Id of each mail → when its COMMIT had returned, by performance.now(). */
  readonly committed: ReadonlyMap<string, number>;
  /** Each statement: when it began and how long it took, milliseconds. */
  readonly statements: readonly { readonly began: number; readonly took: number }[];
  /** Statements that failed. */
  readonly failures: readonly string[];
  /** Resolves when it has stopped. */
  stop(): Promise<void>;
}

/** Mails of one statement that enqueues many. */
const MANY = 5;

/**
 * Starts it: single mails by posthaste.enqueue() and, every tenth time, several by an insert.
 * @param options.pause milliseconds between two statements
 */
export function startOrders(options: {
  connectionString: string;
  templates: readonly string[];
  pause: number;
}): Orders {
  const pool = createPool({
    connectionString: options.connectionString,
    applicationName: "orders",
    max: 8,
  });
  const committed = new Map<string, number>();
  const statements: { began: number; took: number }[] = [];
  const failures: string[] = [];
  const under = new Set<Promise<void>>();
  let stopping = false;
  let number = 0;

  async function order(n: number, template: string): Promise<void> {
    const began = performance.now();
    try {
      const { rows } =
        n % 10 === 0
          ? await pool.query(
              `insert into posthaste.email_messages (template, recipients, parameters)
               select $1, array[format('many%s.%s@customer.example', $2::int, i)], jsonb_build_object('n', $2::int)
               from generate_series(1, $3) i returning id`,
              [template, n, MANY],
            )
          : await pool.query(
              "select posthaste.enqueue($1, $2, jsonb_build_object('n', $3::int), idempotency_key => $4) as id",
              [template, `one${n}@customer.example`, n, `order:${n}`],
            );
      const ended = performance.now();
      statements.push({ began, took: ended - began });
      for (const { id } of rows) committed.set(id, ended);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }

  const orders = {
    templates: options.templates,
    committed,
    statements,
    failures,
    async stop() {
      stopping = true;
      await going;
      await Promise.all(under);
      if (!pool.ended) await pool.end();
    },
  };
  const going = (async () => {
    while (!stopping) {
      const n = number++;
      const one = order(n, orders.templates[n % orders.templates.length] ?? "plain");
      under.add(one);
      void one.finally(() => under.delete(one));
      await delay(options.pause);
    }
  })();
  return orders;
}
