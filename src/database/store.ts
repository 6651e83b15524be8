import type pg from "pg";

/** A row of posthaste.email_messages. */
export interface EmailRow {
  readonly id: string;
  readonly status: "PENDING" | "SENDING" | "SENT" | "FAILED" | "CANCELLED";
  readonly template: string;
  readonly parameters: unknown;
  readonly locale: string | null;
  readonly from_address: string | null;
  readonly recipients: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly reply_to: readonly string[];
  readonly attachments: readonly Attachment[];
  readonly headers: Readonly<Record<string, string>>;
  readonly transport: string | null;
  readonly priority: number;
  readonly idempotency_key: string | null;
  readonly reference: string | null;
  readonly owner: string | null;
  readonly send_at: Date;
  readonly expires_at: Date | null;
  readonly max_attempts: number;
  readonly attempt_count: number;
  readonly deferral_count: number;
  readonly next_attempt_at: Date;
  readonly locked_at: Date | null;
  readonly locked_until: Date | null;
  readonly locked_by: string | null;
  readonly lease_token: string | null;
  readonly handed_over_at: Date | null;
  readonly delivered_to: readonly string[];
  readonly refused: Readonly<Record<string, RefusalReply>>;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly possible_duplicate: boolean;
  readonly message_id: string | null;
  readonly subject: string | null;
  readonly provider_response: string | null;
  readonly transport_used: string | null;
  readonly template_version: string | null;
  readonly created_at: Date;
  readonly sent_at: Date | null;
  readonly finished_at: Date | null;
}

/** An element of `attachments`: a reference, never bytes. */
export interface Attachment {
  readonly filename: string;
  readonly content_type: string;
  readonly storage_ref: string;
  readonly cid?: string;
  readonly owned?: boolean;
}

/** The reply with which an address was refused for good. */
export interface RefusalReply {
  readonly code: number | null;
  readonly enhanced: string | null;
  readonly text: string;
}

/** A row that this worker holds. */
export interface ClaimedEmail extends EmailRow {
  readonly status: "SENDING";
  readonly lease_token: string;
  readonly locked_at: Date;
  readonly message_id: string;
}

/** What the worker's calls need to know about it. Durations in milliseconds. */
export interface StoreSettings {
  /** Identity of the process, as in locked_by. */
  readonly worker: string;
  readonly lease: number;
  readonly environment: string;
  /** Right-hand side of Message-IDs. */
  readonly messageDomain: string;
  readonly policy: {
    readonly delays: readonly number[];
    readonly max_age: number;
    readonly on_unknown_outcome: "resend" | "fail";
  };
  readonly breaker: { readonly failures: number; readonly probe: number; readonly max_probe: number };
}

/** Which row, and the proof of holding it. */
export interface Lease {
  readonly id: string;
  readonly token: string;
}

/** The end of an attempt, as posthaste_private.record_outcomes takes it. */
export interface Outcome {
  readonly id: string;
  readonly token: string;
  readonly kind: "sent" | "retry" | "failed" | "unknown" | "released";
  /** Positions, from 1, in recipients || cc || bcc that the server accepted. */
  readonly accepted: readonly number[];
  /** Positions that it refused for good. */
  readonly refused: Readonly<Record<string, RefusalReply>>;
  /** Whether the attempt is given back; `once`: unless the one before ended the same way. */
  readonly refund: "yes" | "no" | "once";
  /** Milliseconds until the next attempt when the server named them. */
  readonly wait: number | null;
  readonly phase: string | null;
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly transport: string | null;
  readonly subject: string | null;
  readonly provider_response: string | null;
  readonly template_version: string | null;
  /** The template's own policy; null: the configured one. */
  readonly on_unknown_outcome: "resend" | "fail" | null;
}

/** What became of an outcome. */
export interface RecordedOutcome {
  readonly id: string;
  /** `late`: only what was accepted was added; `gone`: no such row any more; `ignored`: nothing to add, and the lease was lost. */
  readonly applied: "recorded" | "late" | "gone" | "ignored";
  readonly status: EmailRow["status"] | null;
  readonly attempt_count: number | null;
  readonly max_attempts: number | null;
  readonly next_attempt_at: Date | null;
  readonly idempotency_key: string | null;
  readonly template: string | null;
  readonly error_code: string | null;
}

/** What one run of maintenance did. */
export interface MaintenanceReport {
  readonly ran: boolean;
  readonly crashed?: number;
  readonly unknown?: number;
  readonly expired?: number;
  readonly given_up?: number;
  readonly readded?: number;
  readonly scheduled?: number;
  /** There is more of the same to do soon. */
  readonly more?: boolean;
}

/** State of a transport in the database, obeyed by all workers. */
export interface TransportState {
  readonly name: string;
  readonly state: "closed" | "open" | "paused";
  readonly failures: number;
  /** Milliseconds until the next probe; null when there is none to make. */
  readonly probe_in: number | null;
}

/** Every step that a worker takes in the database. Each is one call of one SQL function. */
export type Store = ReturnType<typeof createStore>;

/** The worker's door to the database. All calls reject when the database cannot be reached. */
export function createStore(pool: pg.Pool, settings: StoreSettings) {
  const policy = JSON.stringify(settings.policy);
  const breaker = JSON.stringify(settings.breaker);
  const lease = `${settings.lease} milliseconds`;

  // Named, so that each connection plans the hot statements once.
  async function rows<T>(name: string, text: string, values: readonly unknown[]): Promise<T[]> {
    const result = await pool.query({ name: `posthaste_${name}`, text, values: [...values] });
    return result.rows as T[];
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

    /** Renews leases, with `handOver` just before the final dot; returns the ids that are still held. */
    async extendLeases(leases: readonly Lease[], handOver: boolean): Promise<Set<string>> {
      const held = await rows<{ id: string }>(
        "extend",
        "select posthaste_private.extend_leases($1, $2, $3, $4) as id",
        [leases.map(({ id }) => id), leases.map(({ token }) => token), lease, handOver],
      );
      return new Set(held.map(({ id }) => id));
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

    /** Tells the breaker how an attempt went that began at `beganAt` (database time; null: now). */
    async reportTransport(
      name: string,
      verdict: "close" | "count" | "open",
      beganAt: Date | null,
      code: string | null,
      reason: string | null,
    ): Promise<TransportState["state"]> {
      const [row] = await rows<{ state: TransportState["state"] }>(
        "report",
        "select posthaste_private.report_transport($1, $2, $3, $4, $5, $6) as state",
        [name, verdict, beganAt, code, reason, breaker],
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

    /** What the database says it is: its environment, and the id that it got when it was made. */
    async identity(): Promise<{ environment: string | null; installation: string | null }> {
      const [row] = await rows<{ environment: string | null; installation: string | null }>(
        "identity",
        "select posthaste_private.setting('environment') #>> '{}' as environment, posthaste_private.setting('installation') #>> '{}' as installation",
        [],
      );
      return row ?? { environment: null, installation: null };
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

/** What a worker publishes about a template. */
export interface PublishedTemplate {
  readonly name: string;
  readonly version: string;
  readonly required: readonly string[];
  readonly secrets: readonly string[];
  readonly on_unknown_outcome: "resend" | "fail" | null;
}

/**
 * Announces a worker on a connection of its own, whose advisory lock says that it is alive for as long as the
 * connection lives.
 */
export async function registerWorker(
  client: pg.ClientBase,
  worker: {
    readonly id: string;
    readonly host: string;
    readonly version: string;
    readonly defaultTransport: string;
    readonly maxAttempts: number;
    readonly transports: readonly string[];
    readonly templates: readonly PublishedTemplate[];
  },
): Promise<void> {
  await client.query("select posthaste_private.register_worker($1, $2, $3, $4, $5, $6, $7)", [
    worker.id,
    worker.host,
    worker.version,
    worker.defaultTransport,
    worker.maxAttempts,
    worker.transports,
    JSON.stringify(worker.templates),
  ]);
}
