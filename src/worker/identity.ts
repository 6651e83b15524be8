import type { PosthasteConfig } from "../config.ts";
import type { Store } from "../database/store.ts";
import { PosthasteError } from "../errors.ts";
import type { Log } from "../log.ts";

/** A copy of a production database must not mail people. Returns the id of the installation, or throws `environment_mismatch`. */
export async function checkIdentity(store: Store, config: PosthasteConfig, log: Log): Promise<string> {
  const { environment, installation, moved } = await store.identity();
  if (moved) log("database_moved");
  if (environment === config.environment) return installation ?? "";
  throw environmentMismatch(environment, config.environment);
}

/** Says that a worker of this configuration sends nothing from this database. */
export function environmentMismatch(database: string | null, configuration: string): PosthasteError {
  return new PosthasteError(
    `environment_mismatch: the database is ${JSON.stringify(database)} and the configuration ${JSON.stringify(configuration)}, so nothing is sent. ` +
      `If this database is to send mail as ${configuration}, run: posthaste configure environment ${configuration}`,
  );
}
