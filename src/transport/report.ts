import type { Mask } from "./mask.ts";

/** How far a send got. The greeting and EHLO belong to `connect`, the body to `data`. */
export type Phase = "connect" | "tls" | "auth" | "mail" | "rcpt" | "data" | "final_dot";

/** A server's reply. */
export interface Reply {
  /** Three digits, or null when the server said something that is no reply. */
  readonly code: number | null;
  /** Enhanced status code (RFC 3463), e.g. `5.1.1`; its class always agrees with `code`. */
  readonly enhanced: string | null;
  /** The text after the codes: lines joined, control characters stripped, credentials and local parts of addresses masked, at most 500 characters. */
  readonly text: string;
}

/** Why a send did not end with the reply that was hoped for. */
export interface Failure {
  /** The server's reply, when it is one that failed the send. */
  readonly reply: Reply | null;
  readonly kind:
    | "reply"
    | "connection"
    | "timeout"
    | "tls"
    | "auth"
    | "dns"
    | "protocol"
    | "aborted"
    | "gate"
    | "too_large"
    | "smtputf8";
  /** nodemailer's code, or one of ours: EGREETING, ECERTIFICATE, ECLEARTEXT, EGATE, ESIZE, ESMTPUTF8, ECLOSED. */
  readonly code: string;
  /** For operators; no address of the mail and no credentials. */
  readonly message: string;
}

/** A recipient that was refused at RCPT TO. */
export interface RejectedRecipient {
  /** As in the request. */
  readonly address: string;
  readonly reply: Reply;
}

/** All that is known about one send. */
export interface SendReport {
  readonly phase: Phase;
  /** The final dot was, or may have been, written. */
  readonly handedOver: boolean;
  /** The reply to the final dot. */
  readonly finalReply: Reply | null;
  /** Wire addresses for which the final reply was 250. */
  readonly accepted: readonly string[];
  readonly rejected: readonly RejectedRecipient[];
  /** Null: the message was accepted (or, from a probe, the server is ready). */
  readonly failure: Failure | null;
}

/** A report of a send that ended before anything about its recipients was known. */
export function failedReport(phase: Phase, failure: Failure): SendReport {
  return { phase, handedOver: false, finalReply: null, accepted: [], rejected: [], failure };
}

/** A failure without a reply. */
export function failure(kind: Failure["kind"], code: string, message: string): Failure {
  return { reply: null, kind, code, message: tidy(message) };
}

/** Reads a reply of one or more lines. What `mask` takes out of its text is taken out before anything is cut off. */
export function parseReply(raw: string, mask: Mask = (text) => text): Reply {
  const code = /^[1-9]\d\d(?=[\s-]|$)/.exec(raw)?.[0];
  if (code === undefined) return { code: null, enhanced: null, text: tidy(mask(raw)) };
  const bare = raw.slice(0, 4000).replace(/^\d{3}[ -]?/gm, "");
  const written = /^([245])\.(\d{1,3}\.\d{1,3})(?=\s|$)/.exec(bare);
  // Where the two codes disagree, the basic one is right (Postfix does the same): keep its class alone.
  const enhanced = written && (written[1] === code[0] ? `${written[1]}.${written[2]}` : `${code[0]}.0.0`);
  const text = written
    ? bare.replaceAll(new RegExp(`^${written[0].replaceAll(".", "\\.")}\\s?`, "gm"), "")
    : bare;
  return { code: Number(code), enhanced, text: tidy(mask(text)) };
}

/** `550 5.1.1 No such user`, for operators and for provider_response. */
export function describeReply(reply: Reply): string {
  return [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== "").join(" ");
}

/** The server writes this text, so it is not to be trusted with a terminal, a log or a person's address. */
function tidy(text: string): string {
  return text
    .slice(0, 4000)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .replace(/[^\s<>"'(),:;@]{1,64}@(?=[\w\u{a1}-\u{10ffff}])/gu, "…@")
    .trim()
    .slice(0, 500)
    .toWellFormed();
}
