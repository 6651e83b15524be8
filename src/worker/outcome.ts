import type { ClaimedEmail, Outcome, RefusalReply } from "../database/store.ts";
import type { ErrorCode } from "../errors.ts";
import type { Envelope } from "../message/envelope.ts";
import type { Template } from "../templates/load.ts";
import type { SendReport } from "../transport/transport.ts";
import type { Verdict } from "../transport/verdict.ts";

/** The end of an attempt without the fields that say whose it is. */
export type Ending = Omit<Outcome, "id" | "token">;

const NOTHING: Ending = {
  kind: "retry",
  accepted: [],
  refused: {},
  refund: "no",
  wait: null,
  phase: null,
  smtp_code: null,
  enhanced_code: null,
  error_code: null,
  error_message: null,
  transport: null,
  subject: null,
  provider_response: null,
  template_version: null,
  on_unknown_outcome: null,
  secrets: [],
};

/** An end before the mail server was asked, for good. */
export function failedBeforeSending(
  code: ErrorCode,
  message: string,
  phase: "render" | "data" = "render",
): Ending {
  return { ...NOTHING, kind: "failed", phase, error_code: code, error_message: message };
}

/** An end before the mail server was asked that is not this mail's fault. */
export function heldBack(code: ErrorCode, message: string, phase: "render" | "connect" | "data"): Ending {
  return { ...NOTHING, refund: "yes", phase, error_code: code, error_message: message };
}

/** An end before the mail server was asked that spends the attempt; the mail is tried again. */
export function triedAgain(code: ErrorCode, message: string, phase: "render"): Ending {
  return { ...NOTHING, phase, error_code: code, error_message: message };
}

/** Claimed, but given back before it was handed over. */
export const RELEASED: Ending = { ...NOTHING, kind: "released", refund: "yes" };

/** Given back, and not to be claimed again for so many milliseconds. */
export function releasedFor(wait: number): Ending {
  return { ...RELEASED, wait };
}

/** The end of an attempt that reached the transport. */
export function endingOf(input: {
  report: SendReport;
  verdict: Verdict;
  envelope: Envelope;
  email: ClaimedEmail;
  transport: string;
  subject: string;
  template: Template;
}): Ending {
  const { report, verdict, envelope } = input;
  const positions = new Map(envelope.recipients.map(({ wire, positions }) => [wire, positions]));
  const refused: Record<string, RefusalReply> = unroutablePositions(envelope);
  for (const { address, reply } of verdict.refused) {
    for (const position of positions.get(address) ?? []) refused[position] = reply;
  }
  const reply =
    report.finalReply ??
    report.failure?.reply ??
    verdict.deferred[0]?.reply ??
    verdict.refused[0]?.reply ??
    null;
  const sent = verdict.outcome === "sent";
  return {
    kind: verdict.outcome,
    accepted: verdict.accepted.flatMap((address) => positions.get(address) ?? []),
    refused,
    refund: verdict.refund === "unproven" ? "unproven" : verdict.refund ? "yes" : "no",
    wait: verdict.waitSeconds === null ? null : verdict.waitSeconds * 1000,
    phase: report.phase,
    smtp_code: reply?.code ?? null,
    enhanced_code: reply?.enhanced ?? null,
    error_code: verdict.errorCode,
    error_message: sent && verdict.errorCode === null ? null : verdict.message,
    transport: input.transport,
    // The journal of outcomes is a file on disk: nothing that may repeat a secret goes there.
    subject: input.template.secrets.length === 0 ? input.subject : null,
    provider_response: report.finalReply?.text ?? null,
    template_version: input.template.version,
    on_unknown_outcome: input.template.onUnknownOutcome,
    secrets: input.template.secrets,
  };
}

/** Addresses that are never sent to, as refusals. */
export function unroutablePositions(envelope: Envelope): Record<string, RefusalReply> {
  const refused: Record<string, RefusalReply> = {};
  for (const { positions, reason, enhanced } of envelope.unroutable) {
    for (const position of positions) refused[position] = { code: null, enhanced, text: reason };
  }
  return refused;
}
