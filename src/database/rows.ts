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
  /** Set: its secret parameters are gone, and it cannot be retried. */
  readonly secrets_removed_at: Date | null;
}

/** An element of `attachments`: a reference, never bytes. */
export interface Attachment {
  readonly filename: string;
  readonly content_type: string;
  readonly storage_ref: string;
  /** SHA-256 in hexadecimal, from enqueue or from the first attempt. */
  readonly checksum?: string;
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
    readonly secrets_after_failure: number;
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
  /** Whether the attempt is given back; `unproven`: unless this mail is the cause of the failure itself. */
  readonly refund: "yes" | "no" | "unproven";
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
  /** Paths of the template's secret parameters. */
  readonly secrets: readonly string[];
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

/** What a database says it is. */
export interface DatabaseIdentity {
  readonly environment: string | null;
  /** The id that it got when it was made; a copy has the same. */
  readonly installation: string | null;
  /** It runs on another server than the one on which a worker first saw it. */
  readonly moved: boolean;
}

/** State of a transport in the database, obeyed by all workers. */
export interface TransportState {
  readonly name: string;
  readonly state: "closed" | "open" | "paused";
  readonly failures: number;
  /** Milliseconds until the next probe; null when there is none to make. */
  readonly probe_in: number | null;
}
