import { Readable } from "node:stream";
import MailComposer from "nodemailer/lib/mail-composer";
import { isErased, parseMailbox } from "./addresses.ts";
import { assemble, pieces, placeholder } from "./assemble.ts";
import type { Attachment } from "./attachments.ts";

/** A message as it goes over the wire. */
export interface ComposedMessage {
  /** Octets before dot-stuffing, with CRLF line ends. */
  readonly size: number;
  /** The message from its first octet; a fresh stream at each call. */
  stream(): Readable;
}

/** What a message is made of. */
export interface MessageInput {
  /** The mail's id: X-Posthaste-Id and the provider's idempotency header. */
  readonly id: string;
  /** With its angle brackets; the same on every attempt (messageIdFor). */
  readonly messageId: string;
  /** Mailboxes, `user@host` or `Name <user@host>`. Blind copies are of the envelope only and never come here. */
  readonly from: string;
  readonly recipients: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  /** Extra headers; those outside the allow-list are left out (SQL refuses them before). */
  readonly headers: Readonly<Record<string, string>>;
  /** Header of the provider that carries the id, e.g. `Resend-Idempotency-Key`, or null. */
  readonly idempotencyHeader: string | null;
  readonly date: Date;
  readonly attachments: readonly Attachment[];
}

const ALLOWED_HEADER =
  /^(X-[\x21-\x39\x3b-\x7e]+|List-Unsubscribe|List-Unsubscribe-Post|References|In-Reply-To)$/i;

/**
 * Makes the MIME message. Its files are read only as it is streamed. Rejects only when nodemailer does, which would be a
 * bug here.
 */
export async function composeMessage(input: MessageInput): Promise<ComposedMessage> {
  const places = input.attachments.map((part) => ({ part, placeholder: placeholder() }));
  const octets = await new MailComposer({
    messageId: input.messageId,
    date: input.date,
    from: headerAddresses([input.from]),
    to: headerAddresses(input.recipients),
    cc: headerAddresses(input.cc),
    replyTo: headerAddresses(input.replyTo),
    subject: foldable(oneLine(input.subject)),
    text: wireText(input.text),
    html: wireText(input.html),
    headers: extraHeaders(input),
    attachments: places.map(({ part: { filename, contentType, cid }, placeholder }) => ({
      filename: oneLine(filename),
      contentType: leafType(contentType),
      contentDisposition: cid === null ? "attachment" : "inline",
      contentTransferEncoding: "base64",
      content: placeholder.content,
      ...(cid === null ? {} : { cid: oneLine(cid) }),
    })),
    // Nothing in a mail may make the worker read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
  const message =
    places.length > 0 ? assemble(octets, places) : { size: octets.length, pieces: () => pieces(octets) };
  return { size: message.size, stream: () => Readable.from(message.pieces(), { objectMode: false }) };
}

/** The Message-ID of a mail, fixed for all its attempts: `<id@domain of the sender>`, the domain in A-labels. */
export function messageIdFor(id: string, from: string): string {
  const wire = parseMailbox(from)?.wire ?? "@localhost";
  return `<${id}@${wire.slice(wire.lastIndexOf("@") + 1)}>`;
}

/** Objects, never text: nodemailer must not parse addresses, or a name could smuggle in another recipient. */
function headerAddresses(texts: readonly string[]): { name: string; address: string }[] {
  return texts.flatMap((text) => {
    const mailbox = parseMailbox(text);
    if (mailbox === null || isErased(mailbox)) return [];
    return [
      {
        name: foldable(oneLine(mailbox.name ?? "")),
        address: mailbox.needsSmtpUtf8 ? mailbox.address : mailbox.wire,
      },
    ];
  });
}

function extraHeaders(input: MessageInput): { key: string; value: string }[] {
  const own = [
    { key: "X-Posthaste-Id", value: input.id },
    { key: "Auto-Submitted", value: "auto-generated" },
  ];
  if (input.idempotencyHeader !== null) own.push({ key: input.idempotencyHeader, value: input.id });
  const taken = new Set(own.map(({ key }) => key.toLowerCase()));
  const extra = Object.entries(input.headers)
    .filter(([key]) => ALLOWED_HEADER.test(key) && !taken.has(key.toLowerCase()))
    .map(([key, value]) => ({ key, value: oneLine(value) }));
  return [...own, ...extra];
}

/** Lines are folded between words, and may have 998 octets (RFC 5322 2.1.1): a longer word is broken. */
function foldable(text: string): string {
  return text.replace(/\S{500}(?=\S)/gu, "$& ");
}

/** Header text: no line end of any alphabet, no control character, no half of a surrogate pair. */
function oneLine(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

/**
 * Body text: every kind of line end becomes CRLF (a bare CR or LF is how one message is smuggled as two),
 * and control characters, which no mail needs and some servers refuse, go.
 */
function wireText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\n\u0085\u2028\u2029]/g, "\r\n")
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, "");
}

/** A part of one of these types would be read as parts or as a message of its own; SQL refuses them before. */
function leafType(contentType: string): string {
  return /^(multipart|message)\//i.test(contentType) ? "application/octet-stream" : oneLine(contentType);
}
