import type { FileStore, StoredFile } from "../file-store.ts";
import { base64Size } from "./base64.ts";
import { AttachmentError, answer, changed, checksumOf, unchanged } from "./file-bytes.ts";

/** A reference to an attachment, as `email_messages.attachments` holds it: never the bytes. */
export interface AttachmentReference {
  readonly filename: string;
  readonly content_type: string;
  /** `store:key`. */
  readonly storage_ref: string;
  /** SHA-256 in hexadecimal of the bytes that are to be sent, from enqueue or from the first attempt. */
  readonly checksum?: string;
  /** Content-ID of an image that the HTML shows. */
  readonly cid?: string;
  /** The file belongs to the mail and goes when the mail is purged. */
  readonly owned?: boolean;
}

/** An attachment that was found, ready to be composed. */
export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 in hexadecimal. */
  readonly checksum: string;
  readonly cid: string | null;
  /** The bytes, in pieces. Throws an AttachmentError instead of its end when they are not those of size and checksum. */
  read(): AsyncIterable<Uint8Array>;
}

/** Where attachments come from. */
export interface AttachmentSources {
  readonly stores: ReadonlyMap<string, FileStore>;
  /** Octets that a message may have: files that are larger together are not read. */
  readonly maxMessageSize: number;
  /** Milliseconds that a store has for an answer, and for each piece of a file. */
  readonly patience: number;
}

/** All attachments of a mail, or the first cause why it cannot be sent with them. */
export type ResolvedAttachments =
  | { readonly ok: true; readonly attachments: readonly Attachment[] }
  | {
      readonly ok: false;
      readonly code: AttachmentError["code"] | "message_too_large";
      readonly message: string;
    };

/**
 * Finds the files of a mail and makes sure that they are the ones that it was enqueued with. Of each the checksum is known
 * afterwards: a store that keeps none is read for it. Never rejects: a store that fails or is silent is `attachment_unavailable`.
 */
export async function resolveAttachments(
  references: readonly AttachmentReference[],
  sources: AttachmentSources,
): Promise<ResolvedAttachments> {
  try {
    const found = await Promise.all(references.map((reference) => find(reference, sources)));
    const octets = found.reduce((sum, { file }) => sum + base64Size(file.size), 0);
    if (octets > sources.maxMessageSize) {
      const message = `The attachments take ${octets} octets; maxMessageSize is ${sources.maxMessageSize}.`;
      return { ok: false, code: "message_too_large", message };
    }
    const attachments: Attachment[] = [];
    // One after the other, so that one mail does not take all that a store can do.
    for (const { reference, file } of found) attachments.push(await check(reference, file, sources.patience));
    return { ok: true, attachments };
  } catch (error) {
    if (!(error instanceof AttachmentError)) throw error;
    return { ok: false, code: error.code, message: error.message };
  }
}

async function find(
  reference: AttachmentReference,
  { stores, patience }: AttachmentSources,
): Promise<{ reference: AttachmentReference; file: StoredFile }> {
  const colon = reference.storage_ref.indexOf(":");
  const name = reference.storage_ref.slice(0, Math.max(0, colon));
  const store = stores.get(name);
  const what = title(reference);
  if (!store) {
    const known = [...stores.keys()].join(", ");
    throw new AttachmentError(
      "attachment_missing",
      `${what}: no store of that name is configured; there is ${known || "none"}.`,
    );
  }
  const file = await answer(store.find(reference.storage_ref.slice(colon + 1)), what, patience);
  if (file === null) throw new AttachmentError("attachment_missing", `${what}: the store has no such file.`);
  return { reference, file };
}

async function check(
  reference: AttachmentReference,
  file: StoredFile,
  patience: number,
): Promise<Attachment> {
  const what = title(reference);
  const checksum = file.checksum ?? (await checksumOf(file, what, patience));
  if (reference.checksum !== undefined && reference.checksum !== checksum) throw changed(what);
  return {
    filename: reference.filename,
    contentType: reference.content_type,
    size: file.size,
    checksum,
    cid: reference.cid ?? null,
    read: () => unchanged(file, checksum, what, patience),
  };
}

/** How operators are told which file it is. */
function title({ filename, storage_ref }: AttachmentReference): string {
  return `${JSON.stringify(filename)} (${JSON.stringify(storage_ref)})`;
}
