import { constants } from "node:fs";
import { access, type FileHandle, lstat, open, realpath } from "node:fs/promises";
import type { FileStore } from "../file-store.ts";
import { locate } from "./locate.ts";

/** Bytes that are read at once. */
const PIECE = 64 * 1024;

// O_NONBLOCK: a pipe put in the file's place must not hold the worker up. Windows has neither flag.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The files below a folder. Links are not followed below it (the folder itself may be one, as with releases), so no key
 * leads out of it. Rejects when the folder cannot be read.
 * @param folder absolute path
 */
export function createFolderStore(folder: string): FileStore {
  return {
    async find(key) {
      const place = await locate(folder, key);
      if (place === null) return null;
      return { size: place.size, checksum: null, read: () => readFile(folder, key) };
    },
  };
}

/** What is wrong with the folder of a store, or null. */
export async function folderProblem(folder: string): Promise<string | null> {
  try {
    if (!(await lstat(await realpath(folder))).isDirectory()) return `${folder} is not a folder.`;
    await access(folder, constants.R_OK | constants.X_OK);
    return null;
  } catch (error) {
    return `${folder} cannot be read: ${codeOf(error)}.`;
  }
}

async function* readFile(folder: string, key: string): AsyncGenerator<Uint8Array> {
  const handle = await openInside(folder, key);
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(PIECE), 0, PIECE, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Before a byte is read, what was opened must be what lies at that path inside the folder: it may have been exchanged in between. */
async function openInside(folder: string, key: string): Promise<FileHandle> {
  const place = await locate(folder, key);
  if (place === null) throw new Error("the file is gone");
  const handle = await open(place.path, FLAGS);
  try {
    const opened = await handle.stat({ bigint: true });
    const again = await locate(folder, key);
    if (opened.isFile() && again?.id === `${opened.dev}:${opened.ino}`) return handle;
    throw new Error("the file was exchanged while it was opened");
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
