import type { Writable } from "node:stream";

type Level = "debug" | "info" | "warn" | "error";

interface EventKind {
  readonly level: Level;
  readonly text: string;
  /** At most one line a second: what may happen for each mail or each query while something is down. */
  readonly limited?: true;
}

/** Everything that a process says about itself. Log texts are written here and nowhere else. */
export const EVENTS = {
  worker_started: { level: "info", text: "Sends mail." },
  worker_stopping: { level: "info", text: "Takes no new mail and waits for what is being sent." },
  worker_stopped: { level: "info", text: "Stopped." },
  worker_restarted: {
    level: "warn",
    text: "Graphile Worker stopped unexpectedly; a new one runs in its place.",
  },
  email_sent: { level: "info", text: "Sent." },
  email_retried: { level: "warn", text: "Not sent; will be tried again." },
  email_failed: { level: "error", text: "Failed for good." },
  email_unknown: { level: "warn", text: "Handed over, but no reply came." },
  email_released: { level: "info", text: "Given back before it was sent." },
  email_lost: { level: "warn", text: "Not sent: the claim was lost to another process." },
  outcome_kept: {
    level: "error",
    text: "An outcome cannot be recorded yet; it is kept and tried again.",
    limited: true,
  },
  outcomes_replayed: { level: "warn", text: "Outcomes that an earlier process had kept are recorded." },
  journal_failed: {
    level: "error",
    text: "The journal cannot be written; outcomes are kept in memory alone.",
    limited: true,
  },
  claim_failed: { level: "error", text: "Mail cannot be claimed; will be tried again.", limited: true },
  renewal_failed: { level: "error", text: "Leases cannot be renewed; will be tried again.", limited: true },
  maintenance_failed: { level: "error", text: "Maintenance failed; will be tried again.", limited: true },
  maintenance_done: { level: "debug", text: "Maintenance done." },
  purge_done: { level: "info", text: "Old mail is removed." },
  purge_cut_short: {
    level: "warn",
    text: "Old mail is removed in part: the time was over, or the worker stops. The next run goes on.",
  },
  purge_failed: { level: "error", text: "Old mail cannot be removed; the next run goes on.", limited: true },
  files_kept: { level: "warn", text: "Files of removed mail cannot be deleted; will be tried again." },
  job_failed: {
    level: "error",
    text: "A job failed unexpectedly; its mail is looked at again.",
    limited: true,
  },
  database_lost: {
    level: "error",
    text: "The database connection is lost; no mail is claimed.",
    limited: true,
  },
  database_back: { level: "info", text: "The database connection is back." },
  listener_lost: { level: "warn", text: "Notifications do not arrive; polling goes on.", limited: true },
  environment_mismatch: {
    level: "error",
    text: "The database belongs to another environment; nothing is sent.",
    limited: true,
  },
  database_moved: {
    level: "warn",
    text: "The database runs on another server than before: is it a copy? posthaste.configure('environment', …) says what it is.",
  },
  transport_opened: { level: "error", text: "The mail server does not serve; its mail waits." },
  transport_closed: { level: "info", text: "The mail server serves again." },
  transport_probed: { level: "warn", text: "The mail server still does not serve.", limited: true },
  templates_loaded: { level: "info", text: "Templates loaded." },
  template_broken: { level: "warn", text: "A template cannot be loaded." },
  database_started: { level: "info", text: "The embedded PostgreSQL runs." },
  http_started: { level: "info", text: "Answers GraphQL over HTTP." },
  http_stopped: { level: "info", text: "Answers no more." },
  http_failed: { level: "error", text: "A request failed unexpectedly.", limited: true },
  metrics_started: { level: "info", text: "Tells metrics." },
  measuring_failed: {
    level: "warn",
    text: "The database does not tell its figures; metrics lack them.",
    limited: true,
  },
  unexpected: { level: "error", text: "An unexpected error.", limited: true },
} as const satisfies Record<string, EventKind>;

/** An event's name. */
export type EventName = keyof typeof EVENTS;

/** What a line may tell. There is no field for an address, a parameter, or a text that might quote one. */
export interface LogFields {
  /** Id of the mail. */
  readonly id?: string;
  /** Its idempotency key. */
  readonly key?: string | null;
  readonly template?: string;
  readonly transport?: string;
  /** Of the registry in errors.ts. */
  readonly code?: string | null;
  readonly phase?: string | null;
  readonly smtpCode?: number | null;
  readonly attempts?: number;
  readonly maxAttempts?: number;
  /** When it is tried again. */
  readonly next?: Date | null;
  readonly possibleDuplicate?: boolean;
  /** Milliseconds. */
  readonly duration?: number;
  readonly count?: number;
  /** Suppressed lines of the same kind since the last one. Set by the log. */
  readonly suppressed?: number;
  readonly concurrency?: number;
  readonly environment?: string;
  readonly version?: string;
  readonly signal?: string;
  readonly pool?: string;
  readonly pid?: number;
  /** Where an HTTP server listens. */
  readonly url?: string;
  /** Told to a client in place of an error's text. */
  readonly errorId?: string;
  /** Result of `describeError`. */
  readonly error?: ErrorDescription;
}

/** An error's kind and place, without its message when that might quote data. */
export type ErrorDescription = string & { readonly description: unique symbol };

/** Writes one line for an event. */
export type Log = (event: EventName, fields?: LogFields) => void;

export interface LogOptions {
  /** Default stderr: stdout belongs to what a command answers. */
  readonly stream?: Writable & { readonly isTTY?: boolean };
  /** Default: JSON unless the stream is a terminal; POSTHASTE_LOG=json or =text decides otherwise. */
  readonly format?: "json" | "text";
  /** Debug lines too. Default: when DEBUG names posthaste. */
  readonly debug?: boolean;
  /** Milliseconds, for the limit of one line a second. Default: the monotonic clock. */
  readonly now?: () => number;
}

/** A log that writes one line for each event: JSON for machines, text for people. It never throws. */
export function createLog(options: LogOptions = {}): Log {
  const stream = options.stream ?? process.stderr;
  const wanted = options.format ?? process.env.POSTHASTE_LOG;
  const line = wanted === "json" || (wanted !== "text" && !stream.isTTY) ? jsonLine : textLine;
  const debug = options.debug ?? /\bposthaste\b/.test(process.env.DEBUG ?? "");
  const admit = createLimiter(options.now ?? (() => performance.now()));
  return (event, fields = {}) => {
    const kind: EventKind = EVENTS[event];
    if (kind.level === "debug" && !debug) return;
    const suppressed = kind.limited ? admit(event) : 0;
    if (suppressed === null) return;
    stream.write(`${line(event, kind, suppressed === 0 ? fields : { ...fields, suppressed })}\n`);
  };
}

/** What of an error may be written: the messages of the system and our own are safe, others may quote data. */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return `thrown ${typeof error}` as ErrorDescription;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const safe = typeof syscall === "string" || error.name === "PosthasteError";
  const place = error.stack?.match(/^\s+at .*?([^/\\(]+:\d+):\d+\)?$/m)?.[1];
  const parts = [error.name, code, safe ? error.message : null, safe || !place ? null : `at ${place}`];
  return parts.filter(Boolean).join(" ") as ErrorDescription;
}

/** Answers how many lines of that kind were suppressed, or null when this one is to be. */
function createLimiter(now: () => number): (kind: string) => number | null {
  const kinds = new Map<string, { last: number; suppressed: number }>();
  return (kind) => {
    const known = kinds.get(kind);
    if (known && now() - known.last < 1000) {
      known.suppressed += 1;
      return null;
    }
    kinds.set(kind, { last: now(), suppressed: 0 });
    return known?.suppressed ?? 0;
  };
}

function jsonLine(event: EventName, kind: EventKind, fields: LogFields): string {
  return JSON.stringify({
    time: new Date().toISOString(),
    level: kind.level,
    event,
    text: kind.text,
    ...fields,
  });
}

function textLine(event: EventName, kind: EventKind, fields: LogFields): string {
  const time = new Date().toISOString().slice(11, 23);
  const told = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const pairs = told.map(([name, value]) => `${name}=${value instanceof Date ? value.toISOString() : value}`);
  return [time, kind.level.toUpperCase().padEnd(5), event.padEnd(16), kind.text, ...pairs].join(" ");
}
