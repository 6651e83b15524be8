import { setTimeout as delay } from "node:timers/promises";
import type { Scene } from "../faults/scene.ts";
import { onStage } from "./stage.ts";

/** What a backlog behind an open breaker costs, and how it drains. */
export interface Backlog {
  readonly waiting: number;
  /** Milliseconds of each run of maintenance while the breaker was open. */
  readonly open: readonly number[];
  /** Jobs of theirs while it was open. */
  readonly jobs: number;
  /** Milliseconds of each run while it drained. */
  readonly draining: readonly number[];
  /** The allowance of the slow start as it grew, with the mails that were sent by then. */
  readonly growth: readonly {
    readonly after: number;
    readonly allowance: number | null;
    readonly sent: number;
  }[];
  readonly sent: number;
  /** Milliseconds from the closing until `sent`. */
  readonly took: number;
}

const SICK = { greeting: { reply: "554 5.3.2 No service", end: "close" } } as const;
const POLICY = JSON.stringify({ max_age: 432_000_000, delays: [30_000], on_unknown_outcome: "resend" });

/**
 * Lets mail wait behind an open breaker, times maintenance, closes the breaker and drains a part.
 * @param options.runs of maintenance; one looks at 2,000 mails
 * @param options.drain mails that are sent before it ends
 */
export function measureBacklog(options: { waiting: number; runs: number; drain: number }): Promise<Backlog> {
  return onStage({ smtp: { script: SICK, keepRaw: false } }, async (scene) => {
    const { log } = await scene.here();
    const first = await scene.enqueue({ parameters: { n: 0 } });
    await log.line("transport_opened");
    await letWait(scene, options.waiting);

    const open: number[] = [];
    while (open.length < options.runs) open.push(...(await timeMaintenance(scene, "0")));
    const [{ jobs }] = await scene.database.query(
      "select count(*)::int as jobs from graphile_worker.jobs where key <> $1",
      [`posthaste:${first}`],
    );

    scene.server.script = {};
    await log.line("transport_closed");
    const closed = performance.now();
    const draining: number[] = [];
    const growth: { after: number; allowance: number | null; sent: number }[] = [];
    while (scene.server.accepted.length < options.drain) {
      draining.push(...(await timeMaintenance(scene, "900 milliseconds")));
      const [{ allowance }] = await scene.database.query(
        "select allowance from posthaste_private.transports",
      );
      const after = performance.now() - closed;
      if (growth.at(-1)?.allowance !== allowance)
        growth.push({ after, allowance, sent: scene.server.accepted.length });
      if (after > 120_000)
        throw new Error(`Only ${scene.server.accepted.length} mails were sent in 2 minutes.`);
      await delay(100);
    }
    const took = performance.now() - closed;
    const sent = scene.server.accepted.length;
    return { waiting: options.waiting, open, jobs, draining, growth, sent, took };
  });
}

/** Rows as they are after hours of an outage: due, without jobs. Triggers would take minutes. */
async function letWait(scene: Scene, count: number): Promise<void> {
  const client = await scene.database.pool.connect();
  try {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query(
      `insert into posthaste.email_messages (id, template, recipients, parameters, send_at, next_attempt_at, max_attempts)
       select posthaste.new_id(), 'plain', array[format('person%s@customer.example', n)], jsonb_build_object('n', n),
         now() - interval '1 hour' + n * interval '1 millisecond', now() - interval '1 hour' + n * interval '1 millisecond', 8
       from generate_series(1, $1) n`,
      [count],
    );
    await client.query("commit");
  } finally {
    client.release();
  }
  await scene.database.query("analyze posthaste.email_messages");
}

/** Milliseconds of one run, or nothing when it was not time for one. */
async function timeMaintenance(scene: Scene, pause: string): Promise<number[]> {
  const began = performance.now();
  const [{ report }] = await scene.database.query(
    "select posthaste_private.maintain($1, $2, 2000) as report",
    [POLICY, pause],
  );
  return report.ran ? [performance.now() - began] : [];
}
