import { PosthasteError } from "../errors.ts";
import { isErased, parseMailbox } from "./addresses.ts";

/** One RCPT TO, and the entries of the mail that it stands for. */
export interface EnvelopeRecipient {
  /** 1-based places in recipients || cc || bcc; more than one when an address is listed twice. */
  readonly positions: readonly number[];
  /** The address for RCPT TO. */
  readonly wire: string;
  readonly needsSmtpUtf8: boolean;
}

/** Who still has to get the mail, and from whom. */
export interface Envelope {
  /** The address for MAIL FROM. */
  readonly from: string;
  readonly recipients: readonly EnvelopeRecipient[];
  /** Entries that are never sent to, to be recorded as refused: they do not parse, or are not allowed here. */
  readonly unroutable: readonly Unroutable[];
}

/** Why entries are left out of the envelope, with the enhanced status code (RFC 3463) that says the same. */
export interface Unroutable {
  readonly positions: readonly number[];
  readonly reason: string;
  readonly enhanced: string;
}

/** What the row says about who gets the mail. */
export interface EnvelopeInput {
  /** The sender, as a mailbox. */
  readonly from: string;
  readonly recipients: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  /** Bare addresses, as stored, that have the mail already. */
  readonly deliveredTo: readonly string[];
  /** Bare addresses, as stored, that were refused for good. */
  readonly refused: readonly string[];
  /** Only these may be mailed, addresses or `@domain`; null: everybody. For environments that must not mail customers. */
  readonly allowed: readonly string[] | null;
}

/**
 * The SMTP envelope: everybody who is listed, once, minus those who have the mail and those who were refused.
 * Throws when the sender does not parse: the configuration and SQL let no such sender through.
 */
export function buildEnvelope(input: EnvelopeInput): Envelope {
  const from = parseMailbox(input.from);
  if (from === null) {
    throw new PosthasteError(
      "The sender must be user@host or Name <user@host>; mend `from` in the configuration or from_address of the mail.",
    );
  }
  const settled = new Set([...input.deliveredTo, ...input.refused].map(sameness));
  const open = new Map<string, { positions: number[]; wire: string; needsSmtpUtf8: boolean }>();
  const unroutable: Unroutable[] = [];
  const isAllowed = allowance(input.allowed);
  [...input.recipients, ...input.cc, ...input.bcc].forEach((text, index) => {
    const mailbox = parseMailbox(text);
    const position = index + 1;
    if (mailbox === null) {
      unroutable.push({
        positions: [position],
        reason: "not user@host or Name <user@host>",
        enhanced: "5.1.3",
      });
    } else if (!settled.has(mailbox.wire) && isErased(mailbox)) {
      unroutable.push({ positions: [position], reason: "the recipient was erased", enhanced: "5.1.6" });
    } else if (!settled.has(mailbox.wire) && !isAllowed(mailbox.wire)) {
      unroutable.push({
        positions: [position],
        reason: "not among the allowed recipients of this environment",
        enhanced: "5.7.1",
      });
    } else if (!settled.has(mailbox.wire)) {
      const known = open.get(mailbox.wire);
      if (known) known.positions.push(position);
      else {
        const { wire, needsSmtpUtf8 } = mailbox;
        open.set(wire, { positions: [position], wire, needsSmtpUtf8 });
      }
    }
  });
  return { from: from.wire, recipients: [...open.values()], unroutable };
}

function allowance(allowed: readonly string[] | null): (wire: string) => boolean {
  if (allowed === null) return () => true;
  const known = new Set(
    allowed.map((entry) =>
      (entry.startsWith("@") ? sameness(`x${entry}`).slice(1) : sameness(entry)).toLowerCase(),
    ),
  );
  return (wire) =>
    known.has(wire.toLowerCase()) || known.has(wire.slice(wire.lastIndexOf("@")).toLowerCase());
}

/** Stored spellings of one address (upper case or U-labels in the domain) are one recipient. */
function sameness(stored: string): string {
  return parseMailbox(stored)?.wire ?? stored;
}
