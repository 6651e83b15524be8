import { PosthasteError } from "../errors.ts";
import { parseMailbox } from "./addresses.ts";

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
  /** Entries that do not parse: never sent to, to be recorded as refused. */
  readonly unroutable: readonly { readonly positions: readonly number[]; readonly reason: string }[];
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
  const unroutable: { positions: number[]; reason: string }[] = [];
  [...input.recipients, ...input.cc, ...input.bcc].forEach((text, index) => {
    const mailbox = parseMailbox(text);
    const position = index + 1;
    if (mailbox === null) {
      unroutable.push({ positions: [position], reason: "not user@host or Name <user@host>" });
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

/** Stored spellings of one address (upper case or U-labels in the domain) are one recipient. */
function sameness(stored: string): string {
  return parseMailbox(stored)?.wire ?? stored;
}
