import { setTimeout as delay } from "node:timers/promises";
import type { Outcome, RecordedOutcome } from "../database/store.ts";
import { createGroup } from "./group.ts";
import type { Journal } from "./journal.ts";
import { allEnd } from "./settle.ts";

/** Writes outcomes, however long it takes. */
export interface Recorder {
  /** Resolves when the outcome is written, or with null when the database cannot take it yet: then it is kept and tried again. */
  record(outcome: Outcome): Promise<RecordedOutcome | null>;
  /** Outcomes that are kept. */
  readonly kept: number;
  /** Tries everything that is kept once more, now. */
  flush(): Promise<void>;
  /**
   * Tries once more, and leaves what is still kept to the journal. What that cannot take either is tried until then
   * (`performance.now()`). Resolves with the acceptances that end with this process.
   */
  close(until: number): Promise<readonly Outcome[]>;
}

interface Kept {
  readonly outcome: Outcome;
  readonly since: number;
}

const FIRST_PAUSE = 250;
/** For each of the last tries when the time is over. */
const LAST_TRY = 2_000;
/** Short, because another process's maintenance may be first to look at the row when the database is back. */
const LONGEST_PAUSE = 1_000;

/**
 * Groups the writing of outcomes. What the server accepted is evidence and is never dropped: it goes to the journal at
 * the first failed write, or at a later one when the journal fails as well. Any other outcome is dropped after a while,
 * because the lease's end says the same.
 * @param options.keepFor milliseconds for outcomes that hold no acceptance
 */
export function createRecorder(options: {
  write: (outcomes: readonly Outcome[]) => Promise<readonly RecordedOutcome[]>;
  journal: Journal;
  keepFor: number;
  onError: (error: unknown) => void;
  onWritten: (recorded: RecordedOutcome, outcome: Outcome) => void;
}): Recorder {
  const kept = new Map<string, Kept>();
  /** Being written for the first time. */
  const fresh = new Set<Outcome>();
  const closing = new AbortController();
  let retrying: Promise<void> | null = null;
  let flushing: Promise<void> | null = null;

  const write = createGroup<Outcome, RecordedOutcome>(
    async (outcomes) => {
      const recorded = new Map((await options.write(outcomes)).map((one) => [one.id, one]));
      return outcomes.map(({ id }) => recorded.get(id) as RecordedOutcome);
    },
    { most: 200, keyOf: ({ id }) => id },
  );

  async function retryKept(): Promise<void> {
    for (let pause = FIRST_PAUSE; kept.size > 0; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      await delay(pause, undefined, { signal: closing.signal }).catch(() => undefined);
      await flush();
      if (closing.signal.aborted) return;
    }
  }

  function flush(): Promise<void> {
    flushing ??= Promise.all([...kept.values()].map(tryAgain)).then(() => {
      flushing = null;
    });
    return flushing;
  }

  async function tryAgain({ outcome, since }: Kept): Promise<void> {
    try {
      const recorded = await write(outcome);
      await options.journal.settle(outcome);
      kept.delete(outcome.token);
      options.onWritten(recorded, outcome);
    } catch (error) {
      options.onError(error);
      if (isAcceptance(outcome)) await options.journal.keep(outcome);
      else if (performance.now() - since > options.keepFor) kept.delete(outcome.token);
    }
  }

  /** What would end with this process. The journal gets so many milliseconds to take it. */
  async function homeless(patience: number): Promise<Outcome[]> {
    const held = new Set([...fresh, ...[...kept.values()].map(({ outcome }) => outcome)]);
    const acceptances = [...held].filter(isAcceptance);
    await allEnd(acceptances.map(options.journal.keep), patience);
    return acceptances.filter((outcome) => !options.journal.holds(outcome));
  }

  return {
    async record(outcome) {
      fresh.add(outcome);
      try {
        const recorded = await write(outcome);
        // As one that was being written when the process was to stop may be.
        if (options.journal.holds(outcome)) await options.journal.settle(outcome);
        options.onWritten(recorded, outcome);
        return recorded;
      } catch (error) {
        kept.set(outcome.token, { outcome, since: performance.now() });
        if (isAcceptance(outcome)) await options.journal.keep(outcome);
        options.onError(error);
        retrying ??= retryKept().finally(() => {
          retrying = null;
        });
        return null;
      } finally {
        fresh.delete(outcome);
      }
    },
    get kept() {
      return kept.size;
    },
    flush,
    async close(until) {
      const left = () => Math.max(LAST_TRY, until - performance.now());
      closing.abort();
      await allEnd([retrying ?? flush()], left());
      let lost = await homeless(left());
      while (lost.length > 0 && performance.now() < until) {
        await delay(FIRST_PAUSE);
        await allEnd([flush()], left());
        lost = await homeless(left());
      }
      return lost;
    },
  };
}

/** Nobody else will ever know it. */
function isAcceptance({ accepted }: Outcome): boolean {
  return accepted.length > 0;
}
