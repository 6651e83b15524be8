import type { Readable } from "node:stream";
import type { PosthasteConfig } from "../config.ts";
import { createDatabaseFiles } from "../database/files.ts";
import { createPool } from "../database/pool.ts";
import type { ClaimedEmail, Store } from "../database/store.ts";
import type { FileStore } from "../file-store.ts";
import { type Attachment, type AttachmentSources, resolveAttachments } from "../message/attachments.ts";
import { AttachmentError } from "../message/file-bytes.ts";
import { createFolderStore } from "../stores/folder.ts";
import { type Ending, failedBeforeSending, heldBack } from "./outcome.ts";

/** Where a worker's attachments come from. */
export interface FileSources extends AttachmentSources {
  /** Keeps what the first attempt found, for those after it: checksums in the order of the mail's attachments. */
  readonly pin: Store["pinAttachments"];
}

/**
 * The stores of a configuration: its folders, and `files`, the table posthaste.files.
 * @param options.silence milliseconds after which a silent connection to the database is given up
 */
export function openFiles(
  config: PosthasteConfig,
  options: { connectionString: string; silence: number; pin: FileSources["pin"] },
): FileSources & { close(): Promise<void> } {
  // Connections of their own, made when a file is first asked for: whoever reads large files must not hold up an outcome.
  const pool = createPool({
    connectionString: options.connectionString,
    applicationName: "posthaste worker files",
    max: 2,
    patience: options.silence,
  });
  const stores = new Map<string, FileStore>([["files", createDatabaseFiles(pool)]]);
  for (const [name, { folder }] of config.stores) stores.set(name, createFolderStore(folder));
  const { store, command } = config.timeouts;
  return {
    stores,
    maxMessageSize: config.maxMessageSize,
    // A store that is silent must be found out before the transport thinks that the mail server is.
    patience: Math.min(store, command / 2),
    pin: options.pin,
    close: () => pool.end(),
  };
}

/** The files of a mail, or how its attempt ends without them. Rejects when the database cannot be reached. */
export async function filesOf(
  email: ClaimedEmail,
  sources: FileSources,
): Promise<{ readonly attachments: readonly Attachment[] } | { readonly ending: Ending }> {
  if (email.attachments.length === 0) return { attachments: [] };
  const resolved = await resolveAttachments(email.attachments, sources);
  if (!resolved.ok) return { ending: endingFor(resolved.code, resolved.message, "render") };
  // From here on the mail is about these bytes, also when another attempt, or another worker, must send them.
  if (email.attachments.some(({ checksum }) => checksum === undefined))
    await sources.pin(
      email,
      resolved.attachments.map(({ checksum }) => checksum),
    );
  return { attachments: resolved.attachments };
}

/** A message, watched: how its attempt ends when a file failed while it was being sent; null when none did. */
export function watched<T extends { stream(): Readable }>(
  message: T,
): { readonly message: T; broken(): Ending | null } {
  let ending: Ending | null = null;
  const stream = () =>
    message.stream().once("error", (error) => {
      if (error instanceof AttachmentError) ending = endingFor(error.code, error.message, "data");
    });
  return { message: { ...message, stream }, broken: () => ending };
}

function endingFor(
  code: AttachmentError["code"] | "message_too_large",
  message: string,
  phase: "render" | "data",
): Ending {
  // A store that is down is not this mail's fault.
  return code === "attachment_unavailable"
    ? heldBack(code, message, phase)
    : failedBeforeSending(code, message, phase);
}
