import type pg from "pg";
import { passThrough, type Steps, storeOf } from "./sql-steps.ts";
import { median, percentile } from "./statistics.ts";

/** Milliseconds of one step. */
export interface Cost {
  readonly median: number;
  readonly p95: number;
}

/** What each step costs, for a lone mail and for a group. */
export interface StepCosts {
  readonly single: Readonly<Record<keyof Steps, Cost>>;
  readonly group: Readonly<Record<keyof Steps, Cost>>;
}

/** Mails of a group: as many as a worker sends at once by default. */
export const GROUP = 20;

/**
 * Takes mails through all steps in several databases in turn, so that all of them meet the same machine.
 * @param samples single mails, and groups, of each database
 */
export async function measureSteps(
  databases: Readonly<Record<string, pg.Pool>>,
  samples: number,
): Promise<Record<string, StepCosts>> {
  const runs = Object.entries(databases).map(([name, pool]) => ({
    name,
    pool,
    store: storeOf(pool),
    next: 1,
    single: [] as Steps[],
    group: [] as Steps[],
  }));
  const pass = async (run: (typeof runs)[number], count: number) => {
    const steps = await passThrough(run.pool, run.store, run.next, count);
    run.next += count;
    return steps;
  };
  // Plans, caches and connections are those of a worker that has been running for a while.
  for (const run of runs) for (let turn = 0; turn < 30; turn += 1) await pass(run, turn % 2 ? GROUP : 1);
  for (let sample = 0; sample < samples; sample += 1)
    for (const run of runs) {
      run.single.push(await pass(run, 1));
      run.group.push(await pass(run, GROUP));
    }
  return Object.fromEntries(
    runs.map(({ name, single, group }) => [name, { single: costs(single), group: costs(group) }]),
  );
}

function costs(steps: readonly Steps[]): Record<keyof Steps, Cost> {
  const cost = (step: keyof Steps): Cost => {
    const times = steps.map((each) => each[step]);
    return { median: median(times), p95: percentile(times, 0.95) };
  };
  return {
    enqueue: cost("enqueue"),
    claim: cost("claim"),
    handOver: cost("handOver"),
    outcome: cost("outcome"),
  };
}
