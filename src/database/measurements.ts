import type pg from "pg";

/** The answer of posthaste_private.measurements(). Ages in seconds, by the database's clock. */
export interface Measurements {
  readonly pending: number;
  readonly sending: number;
  readonly sent: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly due: number;
  readonly oldest_due_seconds: number;
  readonly expired_leases: number;
  readonly live_workers: number;
  readonly listening_workers: number;
  readonly transports: readonly {
    readonly name: string;
    readonly state: "closed" | "open" | "paused";
    readonly failures: number;
    /** Since it has been in this state. */
    readonly seconds: number;
  }[];
  readonly possible_duplicates: number;
  /** Mails given up in the last ten minutes, by error code; at most 10,000 are counted. */
  readonly failed_recently: Readonly<Record<string, number>>;
  /** Since maintenance ran; null: it never did. */
  readonly maintenance_seconds: number | null;
  readonly snapshot: {
    readonly seconds: number;
    readonly transactions: number;
    /** Whether sessions of other logins count. */
    readonly sees_all: boolean;
  };
  /** Full part of PostgreSQL's queue of notifications, 0 to 1. */
  readonly notification_queue: number;
  /** The latest purge; ages are null for what never happened. */
  readonly purge: {
    readonly running: boolean;
    /** Whether it came through, and not to the end of its time. */
    readonly complete: boolean;
    readonly began_seconds: number | null;
    readonly active_seconds: number | null;
    readonly ended_seconds: number | null;
    readonly removed: Readonly<Record<string, number>>;
    readonly orphan_files: number;
  };
  readonly tables: readonly {
    /** With its schema. */
    readonly name: string;
    readonly dead_rows: number;
    readonly bytes: number;
    /** Since it was vacuumed; null: not since the statistics began. */
    readonly vacuum_seconds: number | null;
  }[];
}

/** What metrics tell of the database. Rejects when it does not answer; how long that takes is up to the pool. */
export async function readMeasurements(pool: pg.Pool): Promise<Measurements> {
  const { rows } = await pool.query("select posthaste_private.measurements() as measured");
  return rows[0].measured as Measurements;
}

/** The same for a login that has no rights but to become an operator, as the HTTP server's. */
export async function readMeasurementsAsOperator(pool: pg.Pool): Promise<Measurements> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query("begin read only");
    await client.query("set local role posthaste_operator");
    const { rows } = await client.query("select posthaste_private.measurements() as measured");
    await client.query("rollback");
    return rows[0].measured as Measurements;
  } catch (error) {
    failed = error as Error;
    throw error;
  } finally {
    client.release(failed);
  }
}
