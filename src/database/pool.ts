import pg from "pg";
import { PosthasteError } from "../errors.ts";
import { describeDatabase } from "./database-url.ts";
import { giveUpWhenSilent, keepAsking } from "./patience.ts";

/** One connection. */
export type Connection = pg.Client;

/** How a pool of connections is made. */
export interface PoolOptions {
  readonly connectionString: string;
  /** Shown in pg_stat_activity, e.g. `posthaste worker`. */
  readonly applicationName: string;
  /** Connections at most. Default 10. */
  readonly max?: number | undefined;
  /** Milliseconds that a statement waits for a lock. Default: as long as it takes. */
  readonly lockTimeout?: number | undefined;
  /** Milliseconds that a statement may take. Default: as long as it takes. */
  readonly statementTimeout?: number | undefined;
  /** Milliseconds for which a connection may owe an answer without bringing an octet; then it is given up. Default: no limit. */
  readonly patience?: number | undefined;
  /** Told when an idle connection is lost; the pool opens another when it is needed. Default: nobody. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** A pool that survives lost connections: without these listeners each one would end the process. */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.max ?? 10,
    ...(options.lockTimeout === undefined ? {} : { lock_timeout: options.lockTimeout }),
    ...(options.statementTimeout === undefined ? {} : { statement_timeout: options.statementTimeout }),
    connectionTimeoutMillis: CONNECT_TIMEOUT,
  });
  const onError = options.onError ?? (() => undefined);
  pool.on("error", onError);
  // A connection that is lost while it is checked out and idle, e.g. between two statements of a transaction.
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
    if (options.patience !== undefined) giveUpWhenSilent(client, options.patience);
  });
  return pool;
}

/** One connection, for what belongs to a session. With `patience` it asks for a sign of life that often (milliseconds), and ends without one. Throws a PosthasteError that says what to do when there is none to be had. */
export async function connect(options: {
  connectionString: string;
  applicationName: string;
  patience?: number | undefined;
}): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    if (options.patience !== undefined) keepAsking(client, options.patience);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw connectionError(error, options.connectionString);
  }
}

/**
 * Says in one sentence why there is no connection, without the password. Not about connecting: the error itself.
 * @param name of the URL, where there is more than one
 */
export function connectionError(error: unknown, connectionString: string, name?: string): unknown {
  const { code, message } = flatten(error);
  const where = describeDatabase(connectionString);
  const advice = ADVICE[code] ?? (/timeout/i.test(message) ? ADVICE.ETIMEDOUT : undefined);
  if (!advice && !code.startsWith("28") && !code.startsWith("08")) return error;
  return new PosthasteError(
    `Cannot connect to PostgreSQL at ${where}${name ? ` (${name})` : ""}: ${message}. ${advice ?? ADVICE["28P01"]}`,
    {
      cause: error,
    },
  );
}

/** Milliseconds. A host that drops packets would otherwise be waited for for minutes. */
const CONNECT_TIMEOUT = 10_000;

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Is the server running, and are host and port of its URL right?",
  ECONNRESET: "The server closed the connection: does it expect TLS (sslmode), and is it starting up?",
  ENOTFOUND: "Is the host of its URL spelt right?",
  EAI_AGAIN: "The host name could not be looked up: is the network there?",
  ENOENT: "There is no such socket: is the server running?",
  ETIMEDOUT: "Is the host of its URL right, and does a firewall let the connection through?",
  EHOSTUNREACH: "Is the host of its URL right, and is the network there?",
  "28P01": "Are user and password of its URL right?",
  "3D000": "Create the database, or correct its name in the URL.",
  "53300": "Its connections are used up: raise max_connections, or let fewer processes connect.",
  "57P03": "It is starting up or shutting down: try again in a moment.",
};

/** Node tries all addresses of a host name and throws one error of them all, with an empty message. */
function flatten(error: unknown): { code: string; message: string } {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && "code" in first ? String(first.code) : "";
  return { code, message: first instanceof Error ? first.message : String(first) };
}
