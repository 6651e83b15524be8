import type { Command } from "commander";
import type { SchemaState } from "../database/check-schema.ts";
import type { Ledger } from "../database/ledger.ts";
import type { Retention } from "../database/retention.ts";
import { PosthasteError } from "../errors.ts";
import { permissionError } from "./permission.ts";
import { refusal, sqlState } from "./sql-error.ts";

/**
 * Gives a command the operator's door to the database. Whatever goes wrong there is thrown as a PosthasteError of one
 * sentence where a person can act on it: no database, no schema, a newer schema, a refusal.
 */
export async function withLedger<T>(
  command: Command,
  work: (ledger: Ledger, schema: SchemaState) => Promise<T>,
): Promise<T> {
  const { createLedger } = await import("../database/ledger.ts");
  return withPool(command, (pool, schema) => work(createLedger(pool), schema));
}

/** Gives a command the steps of a purge, with the same errors. They are for the owner of the schemas. */
export async function withRetention<T>(
  command: Command,
  work: (retention: Retention) => Promise<T>,
): Promise<T> {
  const { createRetention } = await import("../database/retention.ts");
  return withPool(command, (pool) => work(createRetention(pool)));
}

async function withPool<T>(
  command: Command,
  work: (pool: Pool, schema: SchemaState) => Promise<T>,
): Promise<T> {
  const { createPool } = await import("../database/pool.ts");
  const connectionString = await databaseUrlOf(command);
  const pool = createPool({ connectionString, applicationName: `posthaste ${command.name()}`, max: 1 });
  let schema: SchemaState | null = null;
  try {
    schema = await usableSchema(pool);
    return await work(pool, schema);
  } catch (error) {
    throw await explained(error, connectionString, command.name(), schema);
  } finally {
    await pool.end();
  }
}

type Pool = ReturnType<typeof import("../database/pool.ts").createPool>;

/** The error of a database call of a command in words; an error that is about something else comes back as it is. */
export async function explained(
  error: unknown,
  connectionString: string,
  command: string,
  schema: SchemaState | null = null,
): Promise<unknown> {
  if (error instanceof PosthasteError) return error;
  const refused = refusal(error);
  if (refused) return new PosthasteError(refused.sentence, { cause: error });
  const { connectionError } = await import("../database/pool.ts");
  const { describeDatabase } = await import("../database/database-url.ts");
  const state = sqlState(error);
  // Functions and columns of this version are missing while the schema is an older one's.
  if (schema !== null && state?.startsWith("42")) {
    const { schemaError } = await import("../database/check-schema.ts");
    const outdated = schemaError(schema);
    if (outdated) return outdated;
  }
  const denied = permissionError(error, command, connectionString);
  if (denied) return denied;
  if (error instanceof Error && /^Connection terminated/.test(error.message)) {
    return new PosthasteError(
      `The connection to PostgreSQL at ${describeDatabase(connectionString)} was lost; look at what has been done, then try again.`,
      { cause: error },
    );
  }
  return connectionError(error, connectionString);
}

/** An operator must get in even when the configuration file is broken, so it is read only where it is needed. */
async function databaseUrlOf(command: Command): Promise<string> {
  const { requireDatabaseUrl } = await import("../database/database-url.ts");
  const { config } = command.optsWithGlobals<{ config?: string }>();
  const { DATABASE_URL } = process.env;
  if (config === undefined && DATABASE_URL) return requireDatabaseUrl(DATABASE_URL);
  const { configurationOf } = await import("./context.ts");
  const { databaseUrl, databaseUrlName } = await configurationOf(command, { sends: false });
  return requireDatabaseUrl(databaseUrl, databaseUrlName);
}

/** An older schema is let pass: in a rolling deploy, or when `migrate` is what failed, an operator must see and act all the same. */
async function usableSchema(pool: Pool): Promise<SchemaState> {
  const { checkSchema, schemaError } = await import("../database/check-schema.ts");
  const client = await pool.connect();
  try {
    const schema = await checkSchema(client);
    const error = schemaError(schema);
    if (error && schema.state !== "older") throw error;
    return schema;
  } finally {
    client.release();
  }
}
