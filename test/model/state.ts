/** Status of a mail. */
export type Status = "PENDING" | "SENDING" | "SENT" | "FAILED" | "CANCELLED";

/** A mail as the model knows it. Times are microseconds of the database's clock. */
export interface Mail {
  readonly id: string;
  readonly status: Status;
  readonly attempts: number;
  readonly deferrals: number;
  readonly maxAttempts: number;
  readonly token: string | null;
  /** The worker that holds or last held the lease. */
  readonly worker: string | null;
  readonly leaseUntil: number | null;
  readonly handedOver: boolean;
  /** Bare addresses by position: To, Cc, Bcc. */
  readonly addresses: readonly string[];
  readonly delivered: readonly string[];
  readonly refused: readonly string[];
  readonly duplicate: boolean;
  readonly error: string | null;
  /** Due between these two: a delay is half fixed, half random. Equal once the row has been read. */
  readonly due: number;
  readonly dueUntil: number;
  readonly sendAt: number;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly endedAt: number | null;
  /** Whether an address in it cannot be mailed. */
  readonly bad: boolean;
  /** Whether its template has secret parameters, and whether they have been removed. */
  readonly secret: boolean;
  readonly secretsGone: boolean;
  /** "outcome phase error_code" of each ended attempt, in their order. */
  readonly ends: readonly string[];
  /** When the server broke it off the last time. */
  readonly brokenOff: number | null;
}

/** One business event: its idempotency key if it has one, and its mail unless that was purged. */
export interface Slot {
  readonly key: { readonly id: string; readonly request: string; readonly until: number | null } | null;
  readonly mail: Mail | null;
}

/** What stops the transport, and the evidence on whether an outage or a mail does. */
export interface Transport {
  readonly paused: boolean;
  readonly open: boolean;
  readonly servedAt: number | null;
  readonly outageAt: number | null;
}

/** What a worker holds, or once held, of one claim, and what the mail server did with it. */
export interface Lease {
  readonly id: string;
  readonly token: string;
  readonly worker: string;
  /** Addresses of the mail by position, and those that this attempt is for. */
  readonly addresses: readonly string[];
  readonly envelope: readonly string[];
  readonly secret: boolean;
  /** Whether the hand-over was granted, and so the final dot written, and whom the server then took it for. */
  granted: boolean;
  truth: readonly string[];
  /** Outcomes that were told, in their order. */
  readonly told: Told[];
}

/** An outcome as record_outcomes takes it. */
export interface Told {
  readonly id: string;
  readonly token: string;
  readonly kind: "sent" | "retry" | "failed" | "unknown" | "crashed" | "released";
  readonly accepted: readonly number[];
  readonly refused: Readonly<Record<string, object>>;
  readonly refund: "yes" | "no" | "unproven";
  readonly wait: number | null;
  readonly phase: string | null;
  readonly smtp_code: number | null;
  readonly error_code: string | null;
  readonly transport: string | null;
  /** The template's own policy. */
  readonly on_unknown_outcome: "resend" | "fail" | null;
}

/** Everything that the model knows. */
export interface World {
  /** When it was last read, by the database's clock. */
  now: number;
  /** By idempotency key, or by id for mail without one. */
  slots: Map<string, Slot>;
  transport: Transport;
  /** Workers that have a row in the database. */
  workers: Set<string>;
  readonly leases: Lease[];
  /** Copies that the server took, by `id address`: the ledger. */
  readonly copies: Map<string, number>;
  /** Ids of mails that have, or may have, a job to run, as last read. */
  jobs: Set<string>;
}

/** Nothing has been enqueued for this event. */
export const EMPTY: Slot = { key: null, mail: null };

/** A world before anything happened. */
export function emptyWorld(): World {
  return {
    now: 0,
    slots: new Map(),
    transport: { paused: false, open: false, servedAt: null, outageAt: null },
    workers: new Set(),
    leases: [],
    copies: new Map(),
    jobs: new Set(),
  };
}

/** The mails of a world. */
export function mailsOf(world: World): Mail[] {
  return [...world.slots.values()].flatMap(({ mail }) => mail ?? []);
}

/** The slot in which this mail is or was; its id when it has none. */
export function slotOf(world: World, id: string): string {
  for (const [name, { key, mail }] of world.slots) if (mail?.id === id || key?.id === id) return name;
  return id;
}
