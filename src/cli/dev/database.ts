import { relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checkSchema } from "../../database/check-schema.ts";
import { checkedDatabaseUrl, describeDatabase } from "../../database/database-url.ts";
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from "../../database/embedded.ts";
import { createLedger } from "../../database/ledger.ts";
import { migrate } from "../../database/migrate.ts";
import { connect, createPool } from "../../database/pool.ts";
import { PosthasteError } from "../../errors.ts";
import type { Teardown } from "../teardown.ts";
import { freePort } from "./free-port.ts";

/** The database of `dev`, migrated. */
export interface DevDatabase {
  readonly connectionString: string;
  /** For people. With a password only where it protects nothing: on the embedded one. */
  readonly shown: string;
  /** Whether `dev` brought it along: then other terminals know nothing of it. */
  readonly embedded: boolean;
}

/** Which database, and what it must be. */
export interface DevDatabaseOptions {
  /** The one to use; null: an embedded one. */
  readonly databaseUrl: string | null;
  /** Where it was said. */
  readonly databaseUrlName: string;
  /** Folder of the embedded one, kept. */
  readonly directory: string;
  /** First port that is tried for the embedded one. */
  readonly port: number;
  /** What the database must call itself; a new one is told so. */
  readonly environment: string;
  readonly announce: (line: string) => void;
  readonly teardown: Teardown;
}

/**
 * Opens and migrates the database.
 * @throws PosthasteError when it cannot be reached or started, or when it belongs to another environment: a worker that
 * sends to the catcher would take production's mail away from the people it is for
 */
export async function openDatabase(options: DevDatabaseOptions): Promise<DevDatabase> {
  const { databaseUrl, databaseUrlName, directory, environment, announce, teardown } = options;
  if (databaseUrl !== null) {
    checkedDatabaseUrl(databaseUrl, databaseUrlName);
    const isNew = await checkEnvironment(databaseUrl, environment);
    await migrate({ connectionString: databaseUrl });
    if (isNew) await withLedger(databaseUrl, (ledger) => ledger.configure("environment", environment));
    const shown = `${describeDatabase(databaseUrl)}   yours (${databaseUrlName})`;
    return { connectionString: databaseUrl, shown, embedded: false };
  }
  const embedded = await startKept({ directory, port: await freePort(options.port), announce });
  teardown.add(() => embedded.stop());
  const { connectionString } = embedded;
  await migrate({ connectionString });
  await withLedger(connectionString, (ledger) => ledger.configure("environment", environment));
  const shown = `${connectionString}   kept in ${relative(".", embedded.directory ?? "")}`;
  return { connectionString, shown, embedded: true };
}

/** Whether Posthaste is new to this database. Throws when it is not, and the environment is another. */
async function checkEnvironment(connectionString: string, environment: string): Promise<boolean> {
  const client = await connect({ connectionString, applicationName: "posthaste dev" });
  const schema = await checkSchema(client).finally(() => client.end());
  if (schema.state === "missing") return true;
  const found = (await withLedger(connectionString, (ledger) => ledger.stats())).environment;
  if (found === environment) return false;
  throw new PosthasteError(
    `dev needs a database of the environment "${environment}", and ${describeDatabase(connectionString)} says that it is "${found}": ` +
      "its mail would end in the catcher instead of with the people it is for. Use another database, or, when this one is for development, " +
      `run there: select posthaste.configure('environment', '"${environment}"');`,
  );
}

async function withLedger<T>(
  connectionString: string,
  work: (ledger: ReturnType<typeof createLedger>) => Promise<T>,
): Promise<T> {
  const pool = createPool({ connectionString, applicationName: "posthaste dev", max: 1 });
  return work(createLedger(pool)).finally(() => pool.end());
}

/** Milliseconds that the server of a process that was killed may take to end. */
const ENDING = 8000;

/** After a SIGKILL the server that was ours ends by itself, but not in the same moment. */
async function startKept(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const deadline = performance.now() + ENDING;
  for (;;) {
    try {
      return await startEmbedded(options);
    } catch (error) {
      const inUse = error instanceof PosthasteError && /Another process uses this folder/.test(error.message);
      if (!inUse || performance.now() > deadline) throw error;
      await delay(200);
    }
  }
}
