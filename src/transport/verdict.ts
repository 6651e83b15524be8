import type { ErrorCode } from "../errors.ts";
import { deniesRelay, namedWait, tooMany } from "./replies.ts";
import { describeReply, type RejectedRecipient, type Reply, type SendReport } from "./report.ts";
import { type Case, FAILURES, type Meaning, RECIPIENTS } from "./verdict-table.ts";

/** What a send means for its mail. */
export interface Verdict {
  readonly class: "OK" | "HOST" | "CONFIG" | "MESSAGE" | "RECIPIENT" | "UNKNOWN";
  /** For the mail as a whole. A probe that found the server ready has class OK and outcome `retry`: nothing was sent. */
  readonly outcome: "sent" | "retry" | "failed" | "unknown";
  /** The attempt is given back; `unproven`: unless there is evidence that this mail is the cause itself. */
  readonly refund: boolean | "unproven";
  /** For the transport's breaker: nothing, one failure, open at once, or in order again. */
  readonly breaker: "none" | "count" | "open" | "close";
  readonly errorCode: ErrorCode | null;
  /** The next attempt not before so many seconds (10 to 3600): named by the server, or what such a reply needs. */
  readonly waitSeconds: number | null;
  /** Wire addresses that have the mail now. */
  readonly accepted: readonly string[];
  /** Refused for good. */
  readonly refused: readonly RejectedRecipient[];
  /** Put off; to be tried again. */
  readonly deferred: readonly RejectedRecipient[];
  /** How far the send got. */
  readonly phase: SendReport["phase"];
  /** Of the reply that decided; null without one. */
  readonly smtpCode: number | null;
  /** For operators, at most 2,000 characters: phase, reply, what happened. */
  readonly message: string;
}

/**
 * Judges a send by the two tables. `attempt` is the number of this attempt, from 1: a refusal that may be greylisting is
 * believed from the third time on.
 */
export function judge(report: SendReport, attempt = 1): Verdict {
  const { phase, finalReply, failure } = report;
  return { ...decide(report, attempt), phase, smtpCode: (finalReply ?? failure?.reply)?.code ?? null };
}

function decide(report: SendReport, attempt: number): Omit<Verdict, "phase" | "smtpCode"> {
  const { refused, deferred, wait } = sortRecipients(report, attempt);
  const parts = { accepted: report.accepted, refused, deferred };
  const { failure, rejected } = report;
  if (failure === null && report.finalReply === null) {
    return { ...READY, ...parts, message: `${report.phase}: the server is ready` };
  }
  if (failure === null) {
    const open = deferred.length > 0;
    const errorCode = open ? "recipient_deferred" : refused.length > 0 ? "recipient_refused" : null;
    // Recipients that did not fit into this transaction cost the mail nothing.
    const refund = open && deferred.every(({ reply }) => tooMany(reply));
    const common = {
      ...parts,
      refund,
      breaker: "close",
      errorCode,
      waitSeconds: open ? wait : null,
    } as const;
    const message = describe(
      report.phase,
      report.finalReply,
      summary(report.accepted.length, refused, deferred),
    );
    return { class: open ? "RECIPIENT" : "OK", outcome: open ? "retry" : "sent", ...common, message };
  }
  const at: Case = { phase: report.phase, handedOver: report.handedOver, ...failure };
  const row = FAILURES.find(({ when }) => when(at));
  if (row && !refusedOneByOne(report)) {
    const hint = namedWait(failure.reply);
    const waitSeconds = row.outcome === "retry" ? (hint ?? wait) : null;
    return {
      ...meaningOf(row),
      ...parts,
      waitSeconds,
      message: describe(report.phase, failure.reply, failure.message),
    };
  }
  const relay = rejected.length > 0 && rejected.every(({ reply }) => deniesRelay(reply));
  return {
    class: "RECIPIENT",
    outcome: deferred.length > 0 ? "retry" : "failed",
    // All refused as a stranger's mail: likely it is us, not them. The breaker counts it, and knows after a few in a row.
    refund: relay ? "unproven" : false,
    breaker: relay ? "count" : "close",
    errorCode: deferred.length > 0 ? "recipient_deferred" : "recipient_refused",
    waitSeconds: deferred.length > 0 ? wait : null,
    ...parts,
    message: describe(report.phase, failure.reply, summary(0, refused, deferred)),
  };
}

const READY = {
  class: "OK",
  outcome: "retry",
  refund: true,
  breaker: "none",
  errorCode: null,
  waitSeconds: null,
} as const;

function sortRecipients(report: SendReport, attempt: number) {
  const refused: RejectedRecipient[] = [];
  const deferred: RejectedRecipient[] = [];
  const waits: number[] = [];
  for (const recipient of report.rejected) {
    const { reply } = recipient;
    const row = RECIPIENTS.find(({ asks, untilAttempt }) => attempt <= untilAttempt && asks(reply));
    if (row?.fate === "deferred") {
      deferred.push(recipient);
      const pause = namedWait(reply) ?? row.pause;
      if (pause !== null) waits.push(pause);
    } else refused.push(recipient);
  }
  return { refused, deferred, wait: waits.length > 0 ? Math.max(...waits) : null };
}

/** All were refused at RCPT TO, by replies that are about them and not about the server or our set-up. */
function refusedOneByOne({ phase, failure, rejected }: SendReport): boolean {
  const about = phase === "rcpt" && failure?.kind === "reply";
  return (
    about && rejected.length > 0 && !rejected.some(({ reply }) => reply.code === 421 || reply.code === 530)
  );
}

/** The row without its question. */
function meaningOf({ class: about, outcome, refund, breaker, errorCode }: Meaning): Meaning {
  return { class: about, outcome, refund, breaker, errorCode };
}

function summary(
  accepted: number,
  refused: readonly RejectedRecipient[],
  deferred: readonly RejectedRecipient[],
): string {
  const counts = [`${accepted} accepted`, `${refused.length} refused`, `${deferred.length} put off`];
  const [first] = [...refused, ...deferred];
  return first ? `${counts.join(", ")}; first: ${describeReply(first.reply)}` : "";
}

function describe(phase: SendReport["phase"], reply: Reply | null, what: string): string {
  const said = reply ? describeReply(reply) : "";
  return `${phase}: ${[said, once(what, phase, reply)].filter(Boolean).join(": ")}`.slice(0, 2000);
}

/** nodemailer's words often end with the reply that they are about, and the system's begin with the phase. */
function once(what: string, phase: SendReport["phase"], reply: Reply | null): string {
  const words = what.startsWith(`${phase} `) ? what.slice(phase.length + 1) : what;
  const at = reply?.code ? words.search(new RegExp(`: ${reply.code}(?=[ -]|$)`)) : -1;
  return at < 0 ? words : words.slice(0, at);
}
