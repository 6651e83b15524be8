import type pg from "pg";
import { createStore, type Store } from "../../src/database/store.ts";
import { PARAMETERS, RECIPIENT, TEMPLATE } from "./mail.ts";

/** Milliseconds of each step of some mails on their way through the database. */
export type Steps = Readonly<Record<"enqueue" | "claim" | "handOver" | "outcome", number>>;

/** The worker's own calls, of a worker that is none. */
export function storeOf(pool: pg.Pool): Store {
  return createStore(pool, {
    worker: "bench",
    lease: 60_000,
    environment: "production",
    messageDomain: "shop.example",
    policy: {
      delays: [30_000],
      max_age: 432_000_000,
      on_unknown_outcome: "resend",
      secrets_after_failure: 86_400_000,
    },
    breaker: { failures: 3, probe: 5_000, max_probe: 60_000 },
  });
}

/**
 * Takes so many new mails from enqueue to SENT, as the worker does it with a group, without rendering and sending.
 * @param first number of the first one: different for each mail of a database
 */
export async function passThrough(pool: pg.Pool, store: Store, first: number, count: number): Promise<Steps> {
  const times: number[] = [];
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work();
    times.push(performance.now() - began);
    return result;
  };
  const { rows } = await timed(() => pool.query({ name: "enqueue", text: ENQUEUE, values: [first, count] }));
  const ids = rows.map(({ id }) => id as string);
  const emails = await timed(() => store.claim(ids, null));
  const leases = emails.map(({ id, lease_token: token }) => ({ id, token }));
  const held = await timed(() => store.extendLeases(leases, true));
  const outcomes = await timed(() => store.recordOutcomes(leases.map((lease) => ({ ...lease, ...SENT }))));
  if (held.size !== count || outcomes.some(({ status }) => status !== "SENT"))
    throw new Error("Not all of them were sent.");
  // As the job's completion.
  await pool.query({ name: "complete", text: COMPLETE, values: [ids.map((id) => `posthaste:${id}`)] });
  const [enqueue = 0, claim = 0, handOver = 0, outcome = 0] = times;
  return { enqueue, claim, handOver, outcome };
}

const ENQUEUE = `insert into posthaste.email_messages (template, recipients, parameters, idempotency_key, reference)
  select '${TEMPLATE}', array[${RECIPIENT}], ${PARAMETERS}, 'order-confirmed:' || n, 'order:' || n
  from generate_series($1::int, $1::int + $2::int - 1) n returning id`;

const COMPLETE = "delete from graphile_worker._private_jobs where key = any ($1)";

/** The outcome of a mail that the server has taken. */
export const SENT = {
  kind: "sent",
  accepted: [1],
  refused: {},
  refund: "no",
  wait: null,
  phase: "final_dot",
  smtp_code: 250,
  enhanced_code: "2.0.0",
  error_code: null,
  error_message: null,
  transport: "default",
  subject: "Your order is confirmed",
  provider_response: "250 2.0.0 Ok: queued",
  template_version: "1",
  on_unknown_outcome: null,
  secrets: [],
} as const;
