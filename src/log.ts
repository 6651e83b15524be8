import type { Writable } from "node:stream";
import { EVENTS, type EventKind, type EventName } from "./log-events.ts";

/** What a line may tell. There is no field for an address, a parameter, or a text that might quote one. */
export interface LogFields {
  /** Id of the mail. */
  readonly id?: string;
  /** Ids of several mails. */
  readonly ids?: readonly string[];
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
  /** Where in a template's sources: `emails/welcome.tsx:12:5`; or the folder of templates. */
  readonly place?: string;
  /** Why, in a few words of ours; of a broken template only for `posthaste dev`, whose reader wrote what it may quote. */
  readonly reason?: string;
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
    // A mail that is sent and may have been sent twice is nothing to overlook.
    const level = kind.level === "info" && fields.possibleDuplicate ? "warn" : kind.level;
    const suppressed = kind.limited ? admit(event) : 0;
    if (suppressed === null) return;
    stream.write(
      `${line(event, { ...kind, level }, suppressed === 0 ? fields : { ...fields, suppressed })}\n`,
    );
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
