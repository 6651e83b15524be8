import { createHash } from "node:crypto";
import type { StoredFile } from "../file-store.ts";

/** Why a mail cannot be sent with its files. The message is for operators and names the file. */
export class AttachmentError extends Error {
  override readonly name = "AttachmentError";
  readonly code: "attachment_missing" | "attachment_changed" | "attachment_unavailable";

  constructor(code: AttachmentError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The bytes of a file, which end as they should only when size and checksum are right. Throws an AttachmentError.
 * @param what names the file in messages
 * @param patience milliseconds for each piece
 */
export async function* unchanged(
  file: StoredFile,
  checksum: string,
  what: string,
  patience: number,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const piece of measured(file, what, patience)) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest("hex") !== checksum) throw changed(what);
}

/** SHA-256 in hexadecimal of a file's bytes. Throws an AttachmentError. */
export async function checksumOf(file: StoredFile, what: string, patience: number): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of measured(file, what, patience)) hash.update(piece);
  return hash.digest("hex");
}

/** The answer of a store. Throws an AttachmentError when it fails, or none comes in time (milliseconds). */
export async function answer<T>(asked: Promise<T>, what: string, patience: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patience} ms`)), patience);
  });
  try {
    return await Promise.race([asked, silence]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AttachmentError("attachment_unavailable", `${what}: the store cannot be read: ${reason}`);
  } finally {
    clearTimeout(timer);
  }
}

/** The file is another than before. */
export function changed(what: string): AttachmentError {
  return new AttachmentError(
    "attachment_changed",
    `${what}: the file is not the one that the mail was enqueued with.`,
  );
}

/** The pieces of a file, exactly as many bytes as it has: the message's size is promised to the server before. */
async function* measured(file: StoredFile, what: string, patience: number): AsyncGenerator<Uint8Array> {
  const pieces = file.read()[Symbol.asyncIterator]();
  let octets = 0;
  try {
    for (;;) {
      const { done, value } = await answer(pieces.next(), what, patience);
      if (done) break;
      octets += value.length;
      if (octets > file.size) throw changed(what);
      yield value;
    }
    if (octets < file.size) throw changed(what);
  } finally {
    // Not waited for: a store that is silent does not end either.
    void pieces.return?.()?.catch(() => undefined);
  }
}
