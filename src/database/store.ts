import type pg from "pg";
import type {
  ClaimedEmail,
  DatabaseIdentity,
  Lease,
  MaintenanceReport,
  Outcome,
  RecordedOutcome,
  StoreSettings,
  TransportState,
} from "./rows.ts";

export type {
  Attachment,
  ClaimedEmail,
  EmailRow,
  Lease,
  MaintenanceReport,
  Outcome,
  RecordedOutcome,
  RefusalReply,
  StoreSettings,
  TransportState,
} from "./rows.ts";

/** Every step that a worker takes in the database. Each is one call of one SQL function. */
export type Store = ReturnType<typeof createStore>;

/** The worker's door to the database. All calls reject when the database cannot be reached. */
export function createStore(pool: pg.Pool, settings: StoreSettings) {
  const policy = JSON.stringify(settings.policy);
  const breaker = JSON.stringify(settings.breaker);
  const lease = `${settings.lease} milliseconds`;

  // Named, so that each connection plans the hot statements once.
  async function rows<T>(name: string, text: string, values: readonly unknown[]): Promise<T[]> {
    for (let stale = pool.options.max; ; stale -= 1) {
      try {
        const result = await pool.query({ name: `posthaste_${name}`, text, values: [...values] });
        return result.rows as T[];
      } catch (error) {
        // A migration has given the statement more columns, so PostgreSQL refuses the plan that this connection has made
        // before, and has done nothing. The pool gives the connection up: the next one is asked, until one is new.
        if (!STALE_PLAN.has((error as pg.DatabaseError).code ?? "") || stale === 0) throw error;
      }
    }
  }

  return {
    /** Takes those of these mails that are due; the rest is not returned. */
    claim: (ids: readonly string[], probing: string | null): Promise<ClaimedEmail[]> =>
      rows("claim", "select * from posthaste_private.claim($1, $2, $3, $4, $5, $6)", [
        ids,
        settings.worker,
        lease,
        settings.environment,
        settings.messageDomain,
        probing,
      ]),

    /** How many workers died with this mail in hand before they handed it over. */
    async crashesOf(id: string): Promise<number> {
      const [row] = await rows<{ crashes: number }>(
        "crashes",
        "select posthaste_private.crashes_of($1) as crashes",
        [id],
      );
      return row?.crashes ?? 0;
    },

    /** Renews leases, with `handOver` just before the final dot; returns the ids that are still held. */
    async extendLeases(leases: readonly Lease[], handOver: boolean): Promise<Set<string>> {
      const held = await rows<{ id: string }>(
        "extend",
        "select posthaste_private.extend_leases($1, $2, $3, $4) as id",
        [leases.map(({ id }) => id), leases.map(({ token }) => token), lease, handOver],
      );
      return new Set(held.map(({ id }) => id));
    },

    /** Keeps the checksums of a mail's files for its later attempts, unless the lease is lost. */
    async pinAttachments(email: ClaimedEmail, checksums: readonly string[]): Promise<void> {
      await rows("pin", "select posthaste_private.pin_attachments($1, $2, $3)", [
        email.id,
        email.lease_token,
        checksums,
      ]);
    },

    /** Ends attempts. Each mail at most once in one call. */
    recordOutcomes: (outcomes: readonly Outcome[]): Promise<RecordedOutcome[]> =>
      rows("record", "select * from posthaste_private.record_outcomes($1, $2)", [
        JSON.stringify(outcomes),
        policy,
      ]),

    /** One run of maintenance, unless one ran within `pause` milliseconds or is running. */
    async maintain(pause: number, batch: number): Promise<MaintenanceReport> {
      const [row] = await rows<{ report: MaintenanceReport }>(
        "maintain",
        "select posthaste_private.maintain($1, $2, $3) as report",
        [policy, `${pause} milliseconds`, batch],
      );
      return row?.report ?? { ran: false };
    },

    /** Sign of life; false when the database does not know this worker (any more). */
    async beat(poolId: string | null, listening: boolean): Promise<boolean> {
      const [row] = await rows<{ known: boolean }>(
        "beat",
        "select posthaste_private.beat($1, $2, $3) as known",
        [settings.worker, poolId, listening],
      );
      return row?.known ?? false;
    },

    /**
     * Tells the breaker how an attempt went that began at `beganAt` (database time; null: now). `email`: the mail that
     * the server broke off; null when it failed before any was named.
     */
    async reportTransport(
      name: string,
      verdict: "close" | "count" | "open",
      beganAt: Date | null,
      email: string | null,
      code: string | null,
      reason: string | null,
    ): Promise<TransportState["state"]> {
      const [row] = await rows<{ state: TransportState["state"] }>(
        "report",
        "select posthaste_private.report_transport($1, $2, $3, $4, $5, $6, $7) as state",
        [name, verdict, beganAt, code, reason, breaker, email],
      );
      return row?.state ?? "closed";
    },

    /** Transports whose probe this caller is to make now, held for `hold` milliseconds. */
    takeProbes: (
      transports: readonly string[],
      hold: number,
    ): Promise<{ name: string; email_id: string | null }[]> =>
      rows("take_probes", "select * from posthaste_private.take_probes($1, $2)", [
        transports,
        `${hold} milliseconds`,
      ]),

    transportStates: (transports: readonly string[]): Promise<TransportState[]> =>
      rows("transport_states", "select * from posthaste_private.transport_states($1)", [transports]),

    /** Whether another live worker has this template: a deploy is rolling. */
    async templateIsPublished(name: string): Promise<boolean> {
      const [row] = await rows<{ published: boolean }>(
        "published",
        "select posthaste_private.template_is_published($1, $2) as published",
        [name, settings.worker],
      );
      return row?.published ?? false;
    },

    /** Tells which templates this worker knows now, after they were read again. */
    async publishTemplates(templates: readonly PublishedTemplate[]): Promise<void> {
      await rows("publish_templates", "select posthaste_private.publish_templates($1, $2)", [
        settings.worker,
        JSON.stringify(templates),
      ]);
    },

    /** What the database says it is, and whether it has come to another server. */
    async identity(): Promise<DatabaseIdentity> {
      const [row] = await rows<DatabaseIdentity>(
        "identity",
        "select * from posthaste_private.identity()",
        [],
      );
      return row ?? { environment: null, installation: null, moved: false };
    },

    /** Gives back the jobs that a Graphile Worker pool of ours has locked and will not finish. */
    async unlockJobs(poolId: string): Promise<void> {
      await rows("unlock", "select graphile_worker.force_unlock_workers($1)", [[poolId]]);
    },

    /** Whether any waiting mail is due now, or is being sent. */
    async isBusy(): Promise<boolean> {
      const [row] = await rows<{ busy: boolean }>("busy", "select posthaste_private.is_busy() as busy", []);
      return row?.busy ?? false;
    },
  };
}

/**
 * "cached plan must not change result type" has no code of its own; "return type mismatch in function" comes when the
 * migration commits between the caller's plan and the function's.
 */
const STALE_PLAN = new Set(["0A000", "42P13"]);

/** What a worker publishes about a template. */
export interface PublishedTemplate {
  readonly name: string;
  readonly version: string;
  readonly required: readonly string[];
  /** JSON types that a top-level parameter may have, by jsonb_typeof's names. */
  readonly types: Readonly<Record<string, readonly string[]>>;
  readonly secrets: readonly string[];
  readonly on_unknown_outcome: "resend" | "fail" | null;
}
