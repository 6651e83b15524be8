import { setTimeout as delay } from "node:timers/promises";
import { Logger, type Runner, run } from "graphile-worker";
import { createPool } from "../../src/database/pool.ts";
import { createGroup } from "../../src/worker/group.ts";
import { PARAMETERS, RECIPIENT, TEMPLATE } from "./mail.ts";
import { SENT, storeOf } from "./sql-steps.ts";
import { median, percentile } from "./statistics.ts";

/** What it was like for a while. Milliseconds. */
export interface Phase {
  readonly name: string;
  readonly mails: number;
  readonly claim: { readonly median: number; readonly p95: number };
  /** From the beginning of the transaction that enqueues to the claim's: what the fetching of jobs takes. */
  readonly wait: { readonly median: number; readonly p95: number };
  /** Dead rows at its end. */
  readonly deadEmails: number;
  readonly deadJobs: number;
}

const CONCURRENCY = 20;

/**
 * Mail goes through at a steady pace, with Graphile Worker's own fetching and completing of jobs and without rendering and
 * sending, while a foreign transaction holds a snapshot, so that no dead row can be removed.
 * @param options.rate mails in a second
 * @param options.seconds of each phase: before, three while the snapshot is held, and after
 */
export async function measureSnapshot(options: {
  connectionString: string;
  rate: number;
  seconds: number;
  onPhase: (phase: Phase) => void;
}): Promise<Phase[]> {
  const { connectionString, rate, seconds, onPhase } = options;
  const pool = createPool({ connectionString, applicationName: "bench", max: 10 });
  const store = storeOf(pool);
  let claims: number[] = [];
  let waits: number[] = [];
  const claim = createGroup(
    async (ids: readonly string[]) => {
      const began = performance.now();
      const emails = await store.claim(ids, null);
      claims.push(performance.now() - began);
      for (const { locked_at, next_attempt_at } of emails)
        waits.push(locked_at.getTime() - next_attempt_at.getTime());
      const byId = new Map(emails.map((email) => [email.id, email]));
      return ids.map((id) => byId.get(id));
    },
    { most: 100, keyOf: (id) => id },
  );
  const handOver = createGroup(
    async (leases: readonly { id: string; token: string }[]) => {
      const held = await store.extendLeases(leases, true);
      return leases.map(({ id }) => held.has(id));
    },
    { most: 100 },
  );
  const record = createGroup(
    async (leases: readonly { id: string; token: string }[]) =>
      store.recordOutcomes(leases.map((lease) => ({ ...lease, ...SENT }))),
    { most: 100 },
  );
  // Graphile Worker does not wait for the end of a pool of its own.
  const jobs = createPool({ connectionString, applicationName: "bench jobs", max: CONCURRENCY });
  const runner: Runner = await run({
    pgPool: jobs,
    preset: {
      worker: {
        concurrentJobs: CONCURRENCY,
        localQueue: { size: 100 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        pollInterval: 1500,
        logger: new Logger(() => () => undefined),
      },
    },
    noHandleSignals: true,
    taskList: {
      async "posthaste/send_email"(payload) {
        const { id } = payload as { id: string };
        const email = await claim(id);
        if (!email) return;
        const lease = { id, token: email.lease_token };
        await handOver(lease);
        await record(lease);
      },
    },
  });

  let number = 0;
  const enqueue = async () => {
    number += 1;
    await pool.query({ name: "enqueue_one", text: ENQUEUE, values: [number] });
  };
  const phase = async (name: string): Promise<Phase> => {
    [claims, waits] = [[], []];
    const ends = performance.now() + seconds * 1000;
    const began = performance.now();
    const under: Promise<void>[] = [];
    for (let sent = 0; performance.now() < ends; sent += 1) {
      under.push(enqueue());
      await delay(Math.max(0, began + ((sent + 1) * 1000) / rate - performance.now()));
    }
    await Promise.all(under);
    const { rows } = await pool.query(
      `select coalesce(max(n_dead_tup) filter (where relname = 'email_messages'), 0)::int as emails,
         coalesce(max(n_dead_tup) filter (where relname = '_private_jobs'), 0)::int as jobs
       from pg_stat_user_tables where schemaname in ('posthaste', 'graphile_worker')`,
    );
    const found: Phase = {
      name,
      mails: under.length,
      claim: { median: median(claims), p95: percentile(claims, 0.95) },
      wait: { median: median(waits), p95: percentile(waits, 0.95) },
      deadEmails: rows[0].emails,
      deadJobs: rows[0].jobs,
    };
    onPhase(found);
    return found;
  };

  const phases = [await phase("before")];
  const foreign = await pool.connect();
  await foreign.query("begin isolation level repeatable read; select count(*) from posthaste.email_messages");
  for (const part of ["first", "second", "third"]) phases.push(await phase(`snapshot held, ${part} part`));
  await foreign.query("commit");
  foreign.release();
  phases.push(await phase("after"));
  await runner.stop();
  await jobs.end();
  await pool.end();
  return phases;
}

const ENQUEUE = `select posthaste.enqueue('${TEMPLATE}', ${RECIPIENT}, ${PARAMETERS}, idempotency_key => 'order-confirmed:' || n) as id
  from (values ($1::int)) _(n)`;
