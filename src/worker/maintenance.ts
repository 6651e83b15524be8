import type { MaintenanceReport, Store } from "../database/store.ts";
import type { Log } from "../log.ts";
import type { Instruments } from "../metrics/instruments.ts";

/** Rows that one run looks at. */
const BATCH = 2_000;
/** Milliseconds before the next run when there is more of the same to do. */
const SOON = 1_000;

/** This worker's share of maintenance. */
export interface Maintenance {
  /** One run, if it is time for one; returns milliseconds until the next. The work of a loop. */
  run(): Promise<number>;
  /** There is something to do soon: a breaker has closed, and its mail has no jobs. */
  hasten(): void;
}

/**
 * Maintenance has a timer of its own, so that no backlog of jobs can hold it up. All workers try; the database lets one of
 * them run it each interval.
 * @param options.interval milliseconds between two runs
 */
export function createMaintenance(options: {
  store: Store;
  interval: number;
  log: Log;
  instruments: Instruments;
}): Maintenance {
  const soon = Math.min(SOON, options.interval);
  // A worker that starts is often the next one after a dead one, whose mail waits for it.
  let pause = soon;
  return {
    async run() {
      // A little less than the pause, so that the jitter of the timer does not skip every second run.
      const report = await options.store.maintain(pause * 0.9, BATCH);
      options.instruments.maintained(report);
      if (report.unknown) options.log("emails_taken_over", { count: report.unknown });
      const settled = countChanges(report);
      if (settled > 0) options.log("maintenance_done", { count: settled });
      pause = report.more ? soon : options.interval;
      return pause;
    },
    hasten() {
      pause = soon;
    },
  };
}

function countChanges(report: MaintenanceReport): number {
  const { crashed = 0, unknown = 0, expired = 0, given_up = 0, readded = 0 } = report;
  return crashed + unknown + expired + given_up + readded;
}
