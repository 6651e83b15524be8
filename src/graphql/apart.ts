import type { PgClient } from "postgraphile/@dataplan/pg";
import { flagError } from "postgraphile/grafast";
import { safely } from "./safe-errors.ts";

/**
 * Answers questions that came together in one transaction, one after the other: when one fails, with its own error, the
 * others have their answers all the same.
 */
export async function apart<Lookup, Answer>(
  client: PgClient,
  lookups: readonly Lookup[],
  answer: (client: PgClient, lookup: Lookup) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const [only] = lookups;
  if (lookups.length === 1) return [await safely(() => answer(client, only as Lookup))];
  const answers: Answer[] = [];
  for (const lookup of lookups) {
    // Inside a transaction this is a savepoint.
    const inside = () => client.withTransaction((savepoint) => answer(savepoint, lookup));
    answers.push(await safely(inside).catch((error: Error) => flagError(error) as Answer));
  }
  return answers;
}
