import { migrate } from "../../src/database/migrate.ts";
import { createPool } from "../../src/database/pool.ts";
import type { PostgresServer } from "../../src/database/postgres-server.ts";
import { startServer } from "../server.ts";
import type { SceneDatabase } from "./mails.ts";

/** A migrated database in a server of its own, which can be stopped and started again. */
export interface OwnDatabase extends SceneDatabase {
  readonly postgres: PostgresServer;
  close(): Promise<void>;
}

/** Starts the server and migrates its database. Give it to `startScene`, which closes it when its test is over. */
export async function startOwnDatabase(
  settings: Readonly<Record<string, string>> = {},
): Promise<OwnDatabase> {
  const postgres = await startServer(settings);
  const { connectionString } = postgres;
  await migrate({ connectionString });
  const pool = createPool({ connectionString, applicationName: "test" });
  return {
    postgres,
    connectionString,
    pool,
    query: async (text, values) => (await pool.query(text, values as unknown[])).rows,
    async close() {
      await pool.end();
      await postgres.close();
    },
  };
}
