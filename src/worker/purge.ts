import { setTimeout as delay } from "node:timers/promises";
import type { RetentionSettings } from "../config.ts";
import {
  type EndState,
  FIRST,
  type PurgeRule,
  type PurgeStep,
  type Retention,
} from "../database/retention.ts";
import type { DeleteFile } from "./delete-file.ts";

/** What a purge has removed so far. */
export interface Purged {
  readonly emails: Readonly<Record<EndState, number>>;
  readonly keys: number;
  readonly files: number;
  /** Files that their stores could not delete; they are tried again. */
  readonly keptFiles: number;
  /** Whether everything that was old enough is gone; false when the time was over, or it was stopped. */
  readonly complete: boolean;
  /** Milliseconds of the longest transaction. */
  readonly longest: number;
}

/** What a purge may be told. */
export interface PurgeOptions {
  readonly deleteFile: DeleteFile;
  /** Ends it after the step that is under way. */
  readonly signal?: AbortSignal | undefined;
  /** Told after each step. */
  readonly onProgress?: ((purged: Purged) => void) | undefined;
}

/** Most mails that one transaction may remove, and milliseconds that one is to take: the size follows the time. */
const LARGEST = 1000;
const AIM = 40;
/** Rest after each transaction, in times of what it took: those who send have the database for most of the time. */
const REST = 4;
/** Files that are taken at once, and milliseconds in which they are to be deleted before somebody else tries. */
const FILES = 20;
const HOLD = 10 * 60_000;

/**
 * Removes ended mail that has reached its age, keys whose time is over and files that nobody refers to, in many short
 * transactions. Stopped at any point, the next run goes on: nothing but what is gone tells where it was.
 */
export async function purge(
  retention: Retention,
  settings: RetentionSettings,
  options: PurgeOptions,
): Promise<Purged> {
  const { signal } = options;
  const deadline = performance.now() + settings.budget;
  const purged = {
    emails: { SENT: 0, FAILED: 0, CANCELLED: 0 },
    keys: 0,
    files: 0,
    keptFiles: 0,
    complete: false,
    longest: 0,
  };
  let batch = LARGEST / 4;
  const isOver = () => signal?.aborted === true || performance.now() >= deadline;

  /** One transaction, its time, and the rest after it. */
  async function paced<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await unlessDeadlocked(work);
    const took = performance.now() - began;
    purged.longest = Math.max(purged.longest, took);
    batch = Math.round(Math.min(LARGEST, batch * 2, Math.max(10, batch / 2, (batch * AIM) / took)));
    options.onProgress?.(purged);
    await delay(took * REST, undefined, { ...(signal ? { signal } : {}) }).catch(() => undefined);
    return result;
  }

  async function emailsOf(rule: PurgeRule): Promise<void> {
    let place = FIRST;
    while (!isOver()) {
      const size = batch;
      const step: PurgeStep = await paced(async () => {
        const done = await retention.step(rule, place, size);
        purged.emails[rule.status] += done.removed;
        return done;
      });
      if (step.seen < size) return;
      place = step.last;
    }
  }

  async function keys(): Promise<void> {
    while (!isOver()) {
      const size = batch;
      const removed = await paced(() => retention.purgeKeys(size));
      purged.keys += removed;
      if (removed < size) return;
    }
  }

  async function files(): Promise<void> {
    while (!isOver()) {
      const refs = await retention.takeOrphans(HOLD, FILES);
      if (refs.length === 0) return;
      for (const ref of refs) {
        const deleted = await options.deleteFile(ref).then(
          () => true,
          () => false,
        );
        await retention.settleOrphan(ref, deleted);
        purged[deleted ? "files" : "keptFiles"] += 1;
      }
      options.onProgress?.(purged);
    }
  }

  await retention.begin();
  // What earlier mail has left behind must not wait until a backlog is through.
  await files();
  for (const rule of rulesOf(settings)) await emailsOf(rule);
  await keys();
  await files();
  purged.complete = !isOver();
  await retention.end(purged.complete);
  return purged;
}

/** What is to be removed of each state; a state that is kept for ever is not among them. */
export function rulesOf(settings: RetentionSettings): PurgeRule[] {
  const ages: readonly (readonly [EndState, number | null])[] = [
    ["SENT", settings.sent],
    ["CANCELLED", settings.cancelled],
    ["FAILED", settings.failed],
  ];
  return ages.flatMap(([status, age]) =>
    age === null ? [] : [{ status, age, archive: settings.mode === "archive", keepKeys: settings.keys }],
  );
}

/** An erasure may hold the rows of a mail that is going, in another order: who is told so begins anew. */
async function unlessDeadlocked<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if ((code !== "40P01" && code !== "40001") || tries === 3) throw error;
    }
  }
}
