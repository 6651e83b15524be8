import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Pause between two looks, in milliseconds: shorter than the way from the editor to the browser. */
const PAUSE = 250;

/** A watch over files, from the moment it was made; it reports once it is started. */
export interface Watch {
  start(): void;
  /** Ends it, after the call that is under way. */
  close(): Promise<void>;
}

/**
 * Calls `changed` after a file of the folder, or one of the `others`, was written, added or removed, one call at a
 * time. A save that takes several writes ends in a call that sees the last one.
 *
 * It looks at times and sizes rather than wait for the system's events: those miss files that editors replace by
 * renaming, new folders, and network and container mounts; a few dozen files are all there is to look at.
 */
export async function watchFiles(
  directory: string,
  others: () => Iterable<string>,
  changed: () => Promise<void>,
): Promise<Watch> {
  const closing = new AbortController();
  let seen = await lookAt(directory, others());
  let watching: Promise<void> = Promise.resolve();

  const watch = async (): Promise<void> => {
    while (await nextLook(closing.signal)) {
      const now = await lookAt(directory, others());
      // A folder that is away for a moment (a checkout, a build) is no reason to forget what was in it.
      if (now === null || now === seen) continue;
      seen = now;
      await changed();
    }
  };

  return {
    start() {
      watching = watch();
    },
    async close() {
      closing.abort();
      await watching;
    },
  };
}

function nextLook(signal: AbortSignal): Promise<boolean> {
  return pause(PAUSE, true, { signal, ref: false }).catch(() => false);
}

/** Names, times and sizes of all files in one text; null when the folder cannot be read. */
async function lookAt(directory: string, others: Iterable<string>): Promise<string | null> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name));
    const looks = [...new Set([...files, ...others])].sort().map(async (file) => {
      const found = await stat(file).catch(() => null);
      return `${file} ${found?.mtimeMs} ${found?.size}`;
    });
    return (await Promise.all(looks)).join("\n");
  } catch {
    return null;
  }
}
