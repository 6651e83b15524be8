import type { Outcome, RecordedOutcome } from "../database/store.ts";
import type { Log } from "../log.ts";
import type { EventName } from "../log-events.ts";
import type { Instruments } from "../metrics/instruments.ts";

/** Counts an outcome and writes its one log line: no parameter, no address. */
export function reportOutcome(
  log: Log,
  instruments: Instruments,
  recorded: RecordedOutcome,
  outcome: Outcome,
): void {
  const event = eventOf(recorded, outcome);
  const code = codeOf(event, recorded, outcome);
  const ended = recorded.applied === "recorded";
  instruments.ended({
    outcome: event.replace("email_", ""),
    template: recorded.template,
    transport: outcome.transport,
    code,
    flagged: ended && outcome.kind === "unknown",
    refunded: ended && outcome.kind === "retry" && outcome.refund === "yes",
  });
  log(event, {
    id: recorded.id,
    key: recorded.idempotency_key,
    ...(recorded.template === null ? {} : { template: recorded.template }),
    code,
    phase: outcome.kind === "sent" ? null : outcome.phase,
    smtpCode: outcome.kind === "sent" ? null : outcome.smtp_code,
    ...(outcome.transport === null ? {} : { transport: outcome.transport }),
    ...(recorded.attempt_count === null ? {} : { attempts: recorded.attempt_count }),
    ...(recorded.max_attempts === null ? {} : { maxAttempts: recorded.max_attempts }),
    next: recorded.status === "PENDING" ? recorded.next_attempt_at : null,
    ...(isLateNews(recorded, outcome) ? { possibleDuplicate: true } : {}),
  });
}

/** The server took it after all, when another process had the mail already: that one may have sent it as well. */
function isLateNews({ applied }: RecordedOutcome, { accepted }: Outcome): boolean {
  return applied !== "recorded" && accepted.length > 0;
}

function eventOf(recorded: RecordedOutcome, outcome: Outcome): EventName {
  const { applied, status } = recorded;
  const { kind } = outcome;
  if (isLateNews(recorded, outcome)) return "email_sent";
  if (applied === "gone" || applied === "ignored") return "email_lost";
  if (status === "SENT") return "email_sent";
  if (status === "FAILED") return "email_failed";
  if (kind === "released") return "email_released";
  return kind === "unknown" ? "email_unknown" : "email_retried";
}

/** Of a mail that is sent, the row keeps the cause of an earlier attempt; it says nothing about this one. */
function codeOf(event: EventName, { error_code: code }: RecordedOutcome, outcome: Outcome): string | null {
  if (event !== "email_sent" || outcome.error_code !== null || code === "recipient_refused") return code;
  return null;
}
