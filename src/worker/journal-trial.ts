import { mkdir, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { append } from "./journal.ts";

/** Why a journal cannot be written. */
export interface JournalProblem {
  /** For people. */
  readonly sentence: string;
  /** There is no space at the moment: no mistake in the configuration. */
  readonly full: boolean;
}

/**
 * Writes and syncs a file in the folder, as the journal would, and removes it.
 * @param options.tidy remove the folders as well that were made for it. Default false
 * @returns why it cannot be written; null: it can
 */
export async function findJournalProblem(
  directory: string,
  { tidy = false }: { tidy?: boolean } = {},
): Promise<JournalProblem | null> {
  const file = join(directory, `.trial-${process.pid}`);
  try {
    const made = await mkdir(directory, { recursive: true, mode: 0o700 });
    try {
      await append(file, "trial\n");
    } finally {
      await unlink(file).catch(() => undefined);
      if (tidy && made !== undefined) await removeMade(directory, made);
    }
    return null;
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    return {
      full: ["ENOSPC", "EDQUOT", "EFBIG"].includes(code),
      sentence:
        `The journal cannot be written in ${directory}: ${message}. It takes what the database cannot at the moment; without it ` +
        "a stop at such a moment has mail sent twice. Give this user the right to write there, or set `journal` to a folder that it may write to and that outlives the process.",
    };
  }
}

/** From the folder up to the first one that was made. */
async function removeMade(directory: string, first: string): Promise<void> {
  for (let folder = directory; folder.length >= first.length; folder = dirname(folder)) {
    // Somebody else may use it by now.
    if (await rmdir(folder).catch(() => true)) return;
  }
}
