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
  /** Of the live ones those that notifications reach, and those that started less than 10 s ago. */
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
