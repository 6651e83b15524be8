import type { PgClient, PgExecutor } from "postgraphile/@dataplan/pg";
import { type Step, sideEffect } from "postgraphile/grafast";

/** Runs work in a transaction of its own, with the request's role and settings, and with these settings besides. */
export type InTransaction = <T>(
  work: (client: PgClient) => Promise<T>,
  settings?: Readonly<Record<string, string>>,
) => Promise<T>;

/** The plan of a mutation: the work is done once, in the order of the document. */
export function act<Input, Output>(
  executor: PgExecutor,
  $input: Step<Input>,
  work: (inTransaction: InTransaction, input: Input) => Promise<Output>,
): Step<Output> {
  return sideEffect([executor.context(), $input] as const, ([context, input]) => {
    const { pgSettings, withPgClient } = context as unknown as {
      pgSettings: Record<string, string | undefined> | null;
      withPgClient: <T>(settings: object, work: (client: PgClient) => Promise<T>) => Promise<T>;
    };
    return work(
      (inside, settings) =>
        withPgClient({ ...pgSettings, ...settings }, (client) => client.withTransaction(inside)),
      input as Input,
    );
  }) as unknown as Step<Output>;
}
