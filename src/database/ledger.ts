import type pg from "pg";
import type { EmailRow } from "./store.ts";

/** A row of posthaste.email_attempts. */
export interface AttemptRow {
  readonly email_id: string;
  readonly number: number;
  readonly worker: string;
  readonly transport: string | null;
  readonly started_at: Date;
  readonly finished_at: Date;
  readonly outcome: "sent" | "deferred" | "refused" | "failed" | "unknown" | "crashed" | "released";
  readonly phase: string | null;
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

/** The answer of posthaste.queue_stats(). */
export interface QueueStats {
  readonly pending: number;
  readonly sending: number;
  readonly sent: number;
  readonly failed: number;
  readonly cancelled: number;
  /** From 200,000 rows on, `sent` and `cancelled` are estimates. */
  readonly ended_are_estimates: boolean;
  readonly due: number;
  readonly oldest_due_at: Date | null;
  readonly expired_leases: number;
  readonly live_workers: number;
  readonly listening_workers: number;
  readonly transports: readonly TransportStatus[];
  readonly environment: string;
}

/** The answer of posthaste_private.queue_troubles(). */
export interface QueueTroubles {
  /** Waiting mail by transport, where no live worker has that transport. Empty while no worker lives. */
  readonly without_transport: readonly { readonly transport: string; readonly emails: number }[];
  /** Transports that live workers have. */
  readonly worker_transports: readonly string[];
  /** Failures of the last hour by cause, the most frequent first. */
  readonly failed_recently: readonly { readonly code: string; readonly emails: number }[];
  /** Mails that a worker handed over before it was lost. */
  readonly abandoned: number;
  /** When the last of their leases ends. */
  readonly abandoned_until: Date | null;
}

/** What posthaste.email_status() tells of a mail. */
export interface EmailStatus {
  readonly id: string;
  readonly status: string;
  readonly error_code: string | null;
}

/** A transport as operators see it. */
export interface TransportStatus {
  readonly name: string;
  readonly default: boolean;
  readonly state: "closed" | "open" | "paused";
  readonly since: string;
  readonly failures: number;
  readonly error_code: string | null;
  readonly reason: string | null;
  readonly paused_by: string | null;
  readonly next_probe_at: string | null;
}

/** Which mails; keys as in posthaste_private.matching(). Empty: all. */
export interface EmailFilter {
  readonly id?: string | readonly string[];
  readonly status?: string | readonly string[];
  readonly template?: string;
  readonly error_code?: string | readonly string[];
  readonly reference?: string;
  readonly owner?: string;
  readonly recipient?: string;
  readonly transport?: string;
  readonly since?: string;
  readonly until?: string;
  readonly possible_duplicate?: boolean;
}

/** What became of the mails that a filter matched. */
export interface MatchedCount {
  readonly outcome: string;
  readonly emails: number;
}

/** What posthaste.erase_recipient() has done, in mails and records. */
export interface Erased {
  /** Waiting mail that goes on for the others. */
  readonly waiting: number;
  readonly cancelled: number;
  readonly ended: number;
  readonly archived: number;
  /** Mail that is being sent, and is as it was. */
  readonly in_flight: number;
  /** Owned files that will be deleted. */
  readonly files: number;
  /** Records of actions, reasons of transports and names of files. */
  readonly elsewhere: number;
  /** There is more for the next call. */
  readonly more: boolean;
}

/** Arguments of posthaste.enqueue() by name; what is left out has the function's default. */
export type EnqueueArguments = Readonly<Record<string, unknown>> & { readonly template: string };

/** An operator's door to the database. */
export type Ledger = ReturnType<typeof createLedger>;

/** Reads and acts as an operator does. Errors of SQL come as pg's DatabaseError with `code` PH…, `hint` and `column`. */
export function createLedger(pool: pg.Pool) {
  async function rows<T>(text: string, values: readonly unknown[]): Promise<T[]> {
    return (await pool.query(text, [...values])).rows as T[];
  }
  async function row<T>(text: string, values: readonly unknown[]): Promise<T> {
    return (await rows<T>(text, values))[0] as T;
  }

  return {
    /** Newest first. */
    list: (filter: EmailFilter, max: number): Promise<EmailRow[]> =>
      rows("select * from posthaste_private.list_emails($1, $2)", [JSON.stringify(filter), max]),

    /** The mails of an id, an idempotency key or a reference, newest first. */
    find: (word: string, max: number): Promise<EmailRow[]> =>
      rows("select * from posthaste_private.find_emails($1, $2)", [word, max]),

    attempts: (id: string): Promise<AttemptRow[]> =>
      rows("select * from posthaste_private.attempts_of($1)", [id]),

    cancel: (id: string): Promise<EmailRow> => row("select * from posthaste.cancel($1)", [id]),

    retry: (id: string): Promise<EmailRow> => row("select * from posthaste.retry($1)", [id]),

    cancelMatching: (filter: EmailFilter, dryRun: boolean, max: number): Promise<MatchedCount[]> =>
      rows("select outcome, emails::int from posthaste.cancel_matching($1, $2, $3)", [
        JSON.stringify(filter),
        dryRun,
        max,
      ]),

    retryMatching: (filter: EmailFilter, dryRun: boolean, max: number): Promise<MatchedCount[]> =>
      rows("select outcome, emails::int from posthaste.retry_matching($1, $2, $3)", [
        JSON.stringify(filter),
        dryRun,
        max,
      ]),

    async pause(transport: string, reason: string | null): Promise<void> {
      await rows("select posthaste.pause($1, $2)", [transport, reason]);
    },

    async resume(transport: string): Promise<void> {
      await rows("select posthaste.resume($1)", [transport]);
    },

    /** Erases a person from what Posthaste keeps, at most 10,000 mails in one call. */
    erase: (address: string, dryRun: boolean): Promise<Erased> =>
      row("select * from posthaste.erase_recipient($1, $2)", [address, dryRun]),

    stats: (): Promise<QueueStats> =>
      row(
        `select pending::float8, sending::float8, sent::float8, failed::float8, cancelled::float8, ended_are_estimates, due::float8,
          oldest_due_at, expired_leases::float8, live_workers::float8, listening_workers::float8, transports, environment
        from posthaste.queue_stats()`,
        [],
      ),

    /** What `status` tells besides the statistics. */
    troubles: (): Promise<QueueTroubles> =>
      row(
        `select without_transport, worker_transports, failed_recently, abandoned::float8, abandoned_until
        from posthaste_private.queue_troubles()`,
        [],
      ),

    /** What a producer may know of the mail of a key or a reference. */
    status: (key: string | null, reference: string | null): Promise<EmailStatus[]> =>
      rows("select id, status, error_code from posthaste.email_status($1, $2)", [key, reference]),

    /** Names of the templates that live workers have. */
    async templates(): Promise<string[]> {
      return (await rows<{ name: string }>("select name from posthaste.templates()", [])).map(
        ({ name }) => name,
      );
    },

    /** Calls posthaste.enqueue(); returns the id. */
    async enqueue(request: EnqueueArguments): Promise<string> {
      const given = Object.entries(request).filter(([, value]) => value !== undefined);
      const named = given.map(
        ([name], index) => `${ARGUMENT.test(name) ? name : "unknown"} => $${index + 1}`,
      );
      const values = given.map(([name, value]) => (JSON_ARGUMENTS.has(name) ? JSON.stringify(value) : value));
      return (await row<{ id: string }>(`select posthaste.enqueue(${named.join(", ")}) as id`, values)).id;
    },

    /** Sets a setting of the database, e.g. `strict` or `environment`. */
    async configure(name: string, value: unknown): Promise<void> {
      await rows("select posthaste.configure($1, $2)", [name, JSON.stringify(value)]);
    },
  };
}

const ARGUMENT = /^[a-z_]{1,40}$/;
const JSON_ARGUMENTS = new Set(["parameters", "attachments", "headers"]);
