import type pg from "pg";

/** The states in which a mail has come to its end. */
export type EndState = "SENT" | "FAILED" | "CANCELLED";

/** A place in the order in which a purge goes along the mail of one state. */
export interface PurgePlace {
  readonly at: string;
  readonly id: string;
}

/** Before the first mail. */
export const FIRST: PurgePlace = { at: "-infinity", id: "00000000-0000-0000-0000-000000000000" };

/** What a step of a purge has done. */
export interface PurgeStep {
  /** Where the next step begins. */
  readonly last: PurgePlace;
  /** Mails that it looked at. Fewer than it might: there are no more. */
  readonly seen: number;
  readonly removed: number;
}

/** What to remove of one state. Durations in milliseconds. */
export interface PurgeRule {
  readonly status: EndState;
  readonly age: number;
  readonly archive: boolean;
  /** How long its idempotency keys stay. */
  readonly keepKeys: number;
}

/** The steps of a purge, and what it tells of itself. Each call is one short transaction. */
export type Retention = ReturnType<typeof createRetention>;

/** A purge's door to the database. For the owner of the schemas. All calls reject when the database cannot be reached. */
export function createRetention(pool: pg.Pool) {
  async function value<T>(text: string, values: readonly unknown[] = []): Promise<T> {
    return (await pool.query(text, [...values])).rows[0]?.value as T;
  }

  return {
    /** Begins to tell how far it has come. */
    begin: () => value<void>("select posthaste_private.begin_purge() as value"),

    /** Tells that it has ended; `complete` unless its time was over. */
    end: (complete: boolean) => value<void>("select posthaste_private.end_purge($1) as value", [complete]),

    /** Removes what is old enough among the next mails of a state, of which it looks at `batch` at most. */
    async step(rule: PurgeRule, from: PurgePlace, batch: number): Promise<PurgeStep> {
      const { rows } = await pool.query(
        "select last_at::text, last_id, seen, removed from posthaste_private.purge($1, $2, $3, $4, $5, $6, $7)",
        [rule.status, ms(rule.age), rule.archive, ms(rule.keepKeys), from.at, from.id, batch],
      );
      const [{ last_at, last_id, seen, removed }] = rows;
      return { last: { at: last_at, id: last_id }, seen, removed };
    },

    /** Removes idempotency keys whose time is over; how many. */
    purgeKeys: (batch: number) => value<number>("select posthaste_private.purge_keys($1) as value", [batch]),

    /** How many mails of a state are of this age (milliseconds). Reads all of them. */
    count: (status: EndState, age: number) =>
      value<number>("select posthaste_private.count_purgeable($1, $2)::float8 as value", [status, ms(age)]),

    /** Files (`store:key`) that nothing refers to any more, to be deleted by this caller within `hold` milliseconds. */
    async takeOrphans(hold: number, batch: number): Promise<string[]> {
      const { rows } = await pool.query("select posthaste_private.take_orphans($1, $2) as ref", [
        ms(hold),
        batch,
      ]);
      return rows.map(({ ref }) => ref);
    },

    /** Tells that an orphan file is gone, or that its store could not delete it. */
    settleOrphan: (storageRef: string, deleted: boolean) =>
      value<void>("select posthaste_private.settle_orphan($1, $2) as value", [storageRef, deleted]),

    /** Asks the workers for a purge after so many milliseconds. */
    request: (delay: number) =>
      value<void>("select posthaste_private.request_purge($1) as value", [ms(delay)]),

    /** Deletes a row of posthaste.files; none is there: nothing. */
    deleteFile: (key: string) => value<void>("select posthaste_private.delete_file($1) as value", [key]),
  };
}

function ms(milliseconds: number): string {
  return `${milliseconds} milliseconds`;
}
