/** Whether requests can be answered, and if not why, in a word. */
export type Readiness =
  | { readonly ready: true }
  | { readonly ready: false; readonly reason: "database" | "schema" };

/** Milliseconds for which an answer stands: whoever asks often must not load the database. */
const STANDS = 1000;
/** Milliseconds after which the database counts as gone. */
const PATIENCE = 4000;

/**
 * Asks whether the database is there and the schema fits, one question at a time.
 * @param look true: all is well; false: the schema does not fit; rejects when there is no database
 */
export function createReadiness(look: () => Promise<boolean>): () => Promise<Readiness> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<Readiness> | undefined;
  return () => {
    if (answer && performance.now() - asked < STANDS) return answer;
    asked = performance.now();
    answer = Promise.race([look(), silence()]).then(
      (fits): Readiness => (fits ? { ready: true } : { ready: false, reason: "schema" }),
      (): Readiness => ({ ready: false, reason: "database" }),
    );
    return answer;
  };
}

function silence(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error("no answer")), PATIENCE).unref();
  });
}
