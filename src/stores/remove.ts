import { lstat, realpath, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

// The rule of check_attachments in SQL, at the last door. Nothing is decoded: %2e is no character of a key.
const KEY = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,511}$/;
const CLIMBS = /\.\.|\/\/|\/\.|\/$/;

/** The answers of the system that mean that there is no such file. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

/**
 * Deletes a file below a folder. What is not there, is no file, or can be reached through a link only, is none of the
 * store's, so nothing is done. Rejects when the folder cannot be read or the file cannot be deleted.
 * @param folder absolute path
 */
export async function removeFromFolder(folder: string, key: string): Promise<void> {
  if (!KEY.test(key) || CLIMBS.test(key)) return;
  const path = join(await realpath(folder), key);
  try {
    if ((await realpath(dirname(path))) === dirname(path) && (await lstat(path)).isFile()) await unlink(path);
  } catch (error) {
    if (!ABSENT.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
