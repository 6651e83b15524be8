import type pg from "pg";
import type {
  AttemptRow,
  EmailFilter,
  EmailStatus,
  EnqueueArguments,
  Erased,
  MatchedCount,
  QueueStats,
  QueueTroubles,
  TransportStatus,
} from "./ledger-types.ts";
import type { EmailRow } from "./store.ts";

export type * from "./ledger-types.ts";

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

    /** The transports and why one stands still; costs less than `stats`. */
    transports: (): Promise<TransportStatus[]> =>
      rows(
        `select name, is_default as default, state, since, failures, error_code, reason, paused_by, next_probe_at
        from posthaste.transports()`,
        [],
      ),

    /** Those of the workers, as mails name them in `locked_by`, that do not live any more. */
    async goneWorkers(workers: readonly string[]): Promise<string[]> {
      const gone = await rows<{ id: string }>("select id from posthaste_private.gone_workers($1) gone(id)", [
        workers,
      ]);
      return gone.map(({ id }) => id);
    },

    /** How many mails wait for a transport, counted to 10,000. */
    async waiting(transport: string): Promise<number> {
      const counted = await rows<{ emails: number }>(
        "select emails from posthaste.email_counts($1) where status = 'PENDING'",
        [JSON.stringify({ transport })],
      );
      return counted[0]?.emails ?? 0;
    },

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
