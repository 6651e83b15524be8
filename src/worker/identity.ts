import type { PosthasteConfig } from "../config.ts";
import type { Store } from "../database/store.ts";
import { PosthasteError } from "../errors.ts";
import type { Log } from "../log.ts";

/** The environment of the databases that `posthaste dev` and `demo` make. */
export const DEVELOPMENT = "development";

/** A copy of a production database must not mail people. Returns the id of the installation, or throws `environment_mismatch`. */
export async function checkIdentity(store: Store, config: PosthasteConfig, log: Log): Promise<string> {
  const { environment, installation, moved } = await store.identity();
  if (moved) log("database_moved");
  if (environment === config.environment) return installation ?? "";
  throw environmentMismatch(environment, config.environment);
}

/** Says that a worker of this configuration sends nothing from this database. */
export function environmentMismatch(database: string | null, configuration: string): PosthasteError {
  const dev =
    database === DEVELOPMENT
      ? "If it is the database of `posthaste dev`, that sends what is in it, to its catcher, and needs no other worker. "
      : "";
  return new PosthasteError(
    `environment_mismatch: the database is ${JSON.stringify(database)} and the configuration ${JSON.stringify(configuration)}, so nothing is sent. ${dev}` +
      `If this database is to send mail as ${configuration}, run: posthaste configure environment ${configuration}`,
  );
}
