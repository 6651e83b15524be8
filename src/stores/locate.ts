import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";

/** A file below the folder of a store. */
export interface Place {
  /** Absolute, without links. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Of the file itself, whatever it is called: device and inode. */
  readonly id: string;
}

// The rule of check_attachments in SQL, at the last door. Nothing is decoded: %2e is no character of a key.
const KEY = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,511}$/;
const CLIMBS = /\.\.|\/\/|\/\.|\/$/;

/** The answers of the system that mean that there is no such file. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENAMETOOLONG"]);

/**
 * Where the file of a key is, if it is a file and no part of its path below the folder is a link; otherwise null. Nothing
 * is opened. Rejects when the folder, or something in it, cannot be looked at.
 * @param folder absolute path; may be a link itself
 */
export async function locate(folder: string, key: string): Promise<Place | null> {
  if (!KEY.test(key) || CLIMBS.test(key)) return null;
  const path = join(await realpath(folder), key);
  try {
    if ((await realpath(path)) !== path) return null;
    const found = await lstat(path, { bigint: true });
    return found.isFile() ? { path, size: Number(found.size), id: `${found.dev}:${found.ino}` } : null;
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}
