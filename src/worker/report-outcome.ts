import type { Outcome, RecordedOutcome } from "../database/store.ts";
import type { EventName, Log } from "../log.ts";

/** Writes the one log line of an outcome: no parameter, no address. */
export function reportOutcome(log: Log, recorded: RecordedOutcome, outcome: Outcome): void {
  log(eventOf(recorded, outcome), {
    id: recorded.id,
    key: recorded.idempotency_key,
    ...(recorded.template === null ? {} : { template: recorded.template }),
    code: recorded.error_code,
    phase: outcome.kind === "sent" ? null : outcome.phase,
    smtpCode: outcome.kind === "sent" ? null : outcome.smtp_code,
    ...(outcome.transport === null ? {} : { transport: outcome.transport }),
    ...(recorded.attempt_count === null ? {} : { attempts: recorded.attempt_count }),
    ...(recorded.max_attempts === null ? {} : { maxAttempts: recorded.max_attempts }),
    next: recorded.status === "PENDING" ? recorded.next_attempt_at : null,
  });
}

function eventOf({ applied, status }: RecordedOutcome, { kind }: Outcome): EventName {
  if (applied === "gone" || applied === "ignored") return "email_lost";
  if (status === "SENT") return "email_sent";
  if (status === "FAILED") return "email_failed";
  if (kind === "released") return "email_released";
  return kind === "unknown" ? "email_unknown" : "email_retried";
}
