import { Counter, Histogram, type Registry } from "@prometheus-io/client";
import { EVENTS, type EventName } from "../log-events.ts";
import { codeLabel, OTHER } from "./labels.ts";

/** What became of a mail's attempt. */
export interface Ended {
  /** `sent`, `retried`, `failed`, `unknown`, `released` or `lost`. */
  readonly outcome: string;
  readonly template: string | null;
  /** Null when none was asked. */
  readonly transport: string | null;
  readonly code: string | null;
  /** It was marked as a possible duplicate. */
  readonly flagged: boolean;
  /** The attempt did not count, because the fault was not the mail's. */
  readonly refunded: boolean;
}

/** What one run of maintenance did, in numbers of mails. */
export interface Maintained {
  readonly crashed?: number;
  readonly unknown?: number;
  readonly expired?: number;
  readonly given_up?: number;
  readonly readded?: number;
}

/** Where a worker tells what happens, as it happens. No call does more than count. */
export interface Instruments {
  /** A line of the log, written or suppressed. */
  logged(event: EventName): void;
  /** One claim of mails that were due this long ago; milliseconds. */
  claimed(took: number, waited: readonly number[]): void;
  /** A template was rendered, or was not; milliseconds. */
  rendered(template: string, took: number): void;
  /** A dialogue with a mail server has ended, well or not; milliseconds. */
  sent(transport: string, took: number): void;
  ended(end: Ended): void;
  maintained(report: Maintained): void;
}

/**
 * Makes a worker's counters and histograms.
 * @param known.template whether the catalogue has it: only then is it a label
 * @param known.transports names in the configuration
 */
export function createInstruments(
  registry: Registry,
  known: { template: (name: string) => boolean; transports: readonly string[] },
): Instruments {
  const registers = [registry];
  const templateLabel = (name: string | null) => (name !== null && known.template(name) ? name : OTHER);
  const transportLabel = (name: string | null) =>
    name === null ? "none" : known.transports.includes(name) ? name : OTHER;

  const events = new Counter({
    name: "posthaste_events_total",
    help: "Lines of the log by event, suppressed ones included.",
    labelNames: ["event", "level"],
    registers,
  });
  // A series that begins with its first event has no increase to alert on.
  for (const [event, { level }] of Object.entries(EVENTS)) events.inc({ event, level }, 0);
  const outcomes = new Counter({
    name: "posthaste_outcomes_total",
    help: "Attempts that ended: sent, retried, failed (for good), unknown (no reply after the final dot; sent again), released, lost (to another worker).",
    labelNames: ["outcome", "template", "transport", "code"],
    registers,
  });
  const flagged = new Counter({
    name: "posthaste_duplicates_flagged_total",
    help: "Mails marked as possible duplicates: handed over, and no reply known.",
    registers,
  });
  const refunded = new Counter({
    name: "posthaste_attempts_refunded_total",
    help: "Attempts that did not count, because the server or the configuration was at fault.",
    registers,
  });
  const reaped = new Counter({
    name: "posthaste_leases_reaped_total",
    help: "Mails taken back from workers that were gone or silent: crashed (before the hand-over) or unknown (after it).",
    labelNames: ["kind"],
    registers,
  });
  const readded = new Counter({
    name: "posthaste_jobs_readded_total",
    help: "Jobs that maintenance had to add for due mail that had none.",
    registers,
  });
  const ended = new Counter({
    name: "posthaste_given_up_waiting_total",
    help: "Waiting mails that maintenance ended: expired, or given_up for their age.",
    labelNames: ["cause"],
    registers,
  });
  for (const kind of ["crashed", "unknown"]) reaped.inc({ kind }, 0);
  for (const cause of ["expired", "given_up"]) ended.inc({ cause }, 0);
  const claims = new Histogram({
    name: "posthaste_claim_seconds",
    help: "Claiming a group of mails in the database.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const latency = new Histogram({
    name: "posthaste_queue_latency_seconds",
    help: "From the time when a mail was due to its claim, by the database's clock.",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200],
    registers,
  });
  const renders = new Histogram({
    name: "posthaste_render_seconds",
    help: "Rendering a template, failures included.",
    labelNames: ["template"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10],
    registers,
  });
  const sends = new Histogram({
    name: "posthaste_send_seconds",
    help: "The dialogue with the mail server, from taking a connection to the last reply, failures included.",
    labelNames: ["transport"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600],
    registers,
  });

  return {
    logged: (event) => events.inc({ event, level: EVENTS[event].level }),
    claimed(took, waited) {
      claims.observe(took / 1000);
      for (const wait of waited) latency.observe(Math.max(0, wait / 1000));
    },
    rendered: (template, took) => renders.observe({ template: templateLabel(template) }, took / 1000),
    sent: (transport, took) => sends.observe({ transport: transportLabel(transport) }, took / 1000),
    ended(end) {
      outcomes.inc({
        outcome: end.outcome,
        template: templateLabel(end.template),
        transport: transportLabel(end.transport),
        code: codeLabel(end.code),
      });
      if (end.flagged) flagged.inc();
      if (end.refunded) refunded.inc();
    },
    maintained({ crashed = 0, unknown = 0, expired = 0, given_up = 0, readded: jobs = 0 }) {
      reaped.inc({ kind: "crashed" }, crashed);
      reaped.inc({ kind: "unknown" }, unknown);
      flagged.inc(unknown);
      ended.inc({ cause: "expired" }, expired);
      ended.inc({ cause: "given_up" }, given_up);
      readded.inc(jobs);
    },
  };
}
