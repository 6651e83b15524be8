import type { PosthasteConfig } from "../config.ts";
import { findJournalProblem } from "../worker/journal-trial.ts";
import { type Finding, fine, wrong } from "./check-findings.ts";

/** Writes to the journal's folder as a worker would, and leaves nothing there. */
export async function checkJournal({ journal }: PosthasteConfig): Promise<Finding> {
  const problem = await findJournalProblem(journal, { tidy: true });
  return problem === null
    ? fine("journal", `${journal} can be written.`)
    : wrong("journal", problem.sentence);
}
