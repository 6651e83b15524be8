import { mkdir, open, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Outcome } from "../database/store.ts";

/** Keeps acceptances on disk while the database cannot take them. */
export interface Journal {
  /**
   * Appends and syncs, unless it is there; gives up quietly after telling `onError`, because the process still holds the
   * outcome.
   */
  keep(outcome: Outcome): Promise<void>;
  /** Whether it is on disk. */
  holds(outcome: Outcome): boolean;
  /** It is written to the database now. */
  settle(outcome: Outcome): Promise<void>;
}

/** A line of the file: positions and the server's reply, no address, no subject. */
interface Line {
  readonly installation: string;
  readonly outcome: Outcome;
}

/**
 * The journal of this process: a file that exists only while something is kept.
 * @param options.directory made when it is needed
 * @param options.installation of the database; another database's lines are never replayed into this one
 */
export function createJournal(options: {
  directory: string;
  worker: string;
  installation: string;
  onError: (error: unknown) => void;
}): Journal {
  const file = join(options.directory, `${options.worker}.${process.pid}.jsonl`);
  const kept = new Set<string>();
  let last: Promise<void> = Promise.resolve();
  // One after the other, so that the removal of an empty journal cannot take a line with it.
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch(options.onError);
    return last;
  };
  return {
    keep: (outcome) =>
      inTurn(async () => {
        if (kept.has(outcome.token)) return;
        await mkdir(options.directory, { recursive: true, mode: 0o700 });
        const line: Line = {
          installation: options.installation,
          outcome: { ...outcome, error_message: null, subject: null },
        };
        await append(file, `${JSON.stringify(line)}\n`);
        kept.add(outcome.token);
      }),
    holds: ({ token }) => kept.has(token),
    settle: (outcome) =>
      inTurn(async () => {
        if (kept.delete(outcome.token) && kept.size === 0) await unlink(file);
      }),
  };
}

/** Appends a line and syncs. A half one of an earlier try, when the disk was full, must not spoil it; an empty one is none. */
export async function append(file: string, line: string): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    await handle.appendFile(`\n${line}`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes what earlier processes left behind. Writing an outcome again changes nothing, so a file is removed only after
 * all of it is written, and one whose process still runs is left to that process. A line that the database refuses stays
 * where it is, and keeps no worker from starting.
 * @returns how many outcomes were replayed
 */
export async function replayJournals(options: {
  directory: string;
  installation: string;
  write: (outcomes: readonly Outcome[]) => Promise<unknown>;
  onError: (error: unknown) => void;
}): Promise<number> {
  const names = await readdir(options.directory).catch(() => []);
  let replayed = 0;
  for (const name of names.filter((one) => one.endsWith(".jsonl")).sort()) {
    const file = join(options.directory, name);
    const lines = parseLines(await readFile(file, "utf8").catch(() => ""));
    const own = lines.filter(({ installation }) => installation === options.installation);
    let written = 0;
    for (const { outcome } of own) {
      try {
        await options.write([outcome]);
        written += 1;
      } catch (error) {
        options.onError(error);
      }
    }
    replayed += written;
    if (written === lines.length && !isRunning(Number(name.split(".").at(-2))))
      await unlink(file).catch(() => undefined);
  }
  return replayed;
}

/** A line that a crash cut off was never synced, so nobody relied on it. */
function parseLines(text: string): Line[] {
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}

function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
