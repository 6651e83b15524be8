/** A reference to an attachment, as `email_messages.attachments` holds it: never the bytes. */
export interface AttachmentReference {
  readonly filename: string;
  readonly content_type: string;
  readonly storage_ref: string;
  /** Content-ID of an image that the HTML shows. */
  readonly cid?: string;
  /** The file belongs to the mail and goes when the mail is purged. */
  readonly owned?: boolean;
}

/** An attachment with its bytes, ready to be composed. */
export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
  readonly cid: string | null;
}

/** All attachments of a mail, or the first cause why one cannot be had. */
export type ResolvedAttachments =
  | { readonly ok: true; readonly attachments: readonly Attachment[] }
  | {
      readonly ok: false;
      readonly code: "attachment_missing" | "attachment_changed";
      readonly message: string;
    };

/**
 * Turns references into bytes. No store of attachments can be configured yet, so every reference is missing:
 * a mail with one is never sent without it.
 */
export async function resolveAttachments(
  references: readonly AttachmentReference[],
): Promise<ResolvedAttachments> {
  const [first] = references;
  if (first === undefined) return { ok: true, attachments: [] };
  const message = `No store of attachments is configured, so ${JSON.stringify(first.filename)} cannot be found; send a link instead.`;
  return { ok: false, code: "attachment_missing", message };
}
