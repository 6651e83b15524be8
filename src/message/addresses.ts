import { domainToASCII } from "node:url";

/** One address of a mail, as a person writes it and as the wire needs it. */
export interface Mailbox {
  /** Display name without its quotes, or null. */
  readonly name: string | null;
  /** The bare address as it is stored. */
  readonly address: string;
  /** The address for SMTP: the local part as written, the domain in lower-case A-labels. */
  readonly wire: string;
  /** The local part is not ASCII, so only a server with SMTPUTF8 can take it. */
  readonly needsSmtpUtf8: boolean;
}

// RFC 5321 dot-string, with the letters beyond ASCII that RFC 6531 adds. Quoted local parts, comments, routes,
// groups and address literals are left out on purpose: parsers disagree about them, and disagreement misroutes mail.
const LOCAL_PART =
  /^[\w!#$%&'*+\-/=?^`{|}~\u{a1}-\u{10ffff}]+(\.[\w!#$%&'*+\-/=?^`{|}~\u{a1}-\u{10ffff}]+)*$/u;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
// Spaces of other scripts and characters that nobody sees, such as those that turn the direction of writing.
const INVISIBLE = /[\p{Z}\p{C}]/u;

/**
 * Reads `user@host` or `Name <user@host>`, the name quoted or not.
 * Returns null when the text is neither. SQL has checked it before; this is the same rule at the last door.
 */
export function parseMailbox(text: string): Mailbox | null {
  if (CONTROL.test(text)) return null;
  const trimmed = text.trim();
  const open = trimmed.endsWith(">") ? trimmed.lastIndexOf("<") : -1;
  if (open < 0) return fromAddress(null, trimmed);
  return fromAddress(unquote(trimmed.slice(0, open).trim()), trimmed.slice(open + 1, -1).trim());
}

/** Whether it stands for a person who was erased (posthaste.erase_recipient): it is neither mailed nor shown. */
export function isErased(mailbox: Mailbox): boolean {
  return mailbox.wire.endsWith("@erased.invalid");
}

function fromAddress(name: string | null, address: string): Mailbox | null {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  const domain = wireDomain(address.slice(at + 1));
  if (at < 1 || domain === null || !LOCAL_PART.test(local) || INVISIBLE.test(local)) return null;
  const wire = `${local}@${domain}`;
  // RFC 5321 4.5.3.1.1 and .3 count octets.
  if (Buffer.byteLength(local) > 64 || Buffer.byteLength(wire) > 254) return null;
  return { name, address, wire, needsSmtpUtf8: !isAscii(local) };
}

/** The domain in A-labels, or null when no mail host can be called that. */
function wireDomain(domain: string): string | null {
  // domainToASCII hides a hyphen at the end of a label (RFC 5891 4.2.3.1) inside of its A-label.
  if (/(?:^|\.)-|-(?:\.|$)/.test(domain)) return null;
  // It would read "1.2" as an IPv4 address, so it sees only what needs it.
  const ascii = isAscii(domain) ? domain.toLowerCase() : domainToASCII(domain);
  const labels = ascii.split(".");
  if (ascii === "" || !labels.every((label) => LABEL.test(label))) return null;
  return /^\d+$/.test(labels.at(-1) ?? "") ? null : ascii;
}

function unquote(name: string): string | null {
  const quoted = name.length >= 2 && name.startsWith('"') && name.endsWith('"');
  return (quoted ? name.slice(1, -1).replace(/\\(.)/gu, "$1") : name) || null;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
