import type { Store } from "../database/store.ts";
import { PosthasteError } from "../errors.ts";
import { describeError, type Log } from "../log.ts";
import { createJournal, type Journal, replayJournals } from "./journal.ts";
import { findJournalProblem } from "./journal-trial.ts";

/**
 * Makes the journal of this process, after it has recorded what earlier ones left in the folder. Throws a PosthasteError
 * when it cannot be written: that is a mistake in the set-up, which nobody would notice until an acceptance is lost. A full
 * disk is none, and may have come while mail must go out: it is logged.
 * @param options.worker id of this worker
 * @param options.installation of the database
 */
export async function openJournal(options: {
  directory: string;
  worker: string;
  installation: string;
  store: Store;
  log: Log;
}): Promise<Journal> {
  const { directory, worker, installation, store, log } = options;
  const problem = await findJournalProblem(directory);
  if (problem?.full) log("journal_failed", { error: describeError(new PosthasteError(problem.sentence)) });
  else if (problem) throw new PosthasteError(problem.sentence);
  const replayed = await replayJournals({
    directory,
    installation,
    write: (outcomes) => store.recordOutcomes(outcomes),
    onError: (error) => log("outcome_kept", { error: describeError(error) }),
  });
  if (replayed > 0) log("outcomes_replayed", { count: replayed });
  const onError = (error: unknown) => log("journal_failed", { error: describeError(error) });
  return createJournal({ directory, worker, installation, onError });
}
