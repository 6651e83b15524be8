import { randomBytes } from "node:crypto";
import { after } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { migrate } from "../src/database/migrate.ts";
import { createPool } from "../src/database/pool.ts";
import { startServer } from "./server.ts";

export { startServer } from "./server.ts";

/** A role of Posthaste's. */
export type TestRole = "posthaste_producer" | "posthaste_operator" | "posthaste_viewer";

/** A database of one's own in the server that the whole run shares. */
export interface TestDatabase {
  readonly name: string;
  /** Superuser. */
  readonly connectionString: string;
  /** Superuser, 10 connections. */
  readonly pool: pg.Pool;
  /** One statement as superuser; its rows. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows its columns.
  query<Row = any>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** A pool of sessions that have become the role (`set role`), with further settings, e.g. `{ "posthaste.owner": "7" }`. */
  as(role: TestRole | (string & {}), settings?: Readonly<Record<string, string>>): pg.Pool;
  /** Makes a login with a password; its name, and how to connect as it. It is dropped with the database. */
  login(options?: {
    memberOf?: string;
    attributes?: string;
  }): Promise<{ name: string; connectionString: string }>;
  /** Drops the database. Throws when connections other than those of the pools above are left. Done after the test anyway. */
  close(): Promise<void>;
}

/**
 * Makes a database for a test file, or for one test when its context is given: a copy of a migrated one, or an empty one.
 * It is dropped when the file, or the test, is over. Node runs `after` hooks in the order in which they were added: what
 * uses the database is to be stopped in the test itself, or by a hook that is added before this one's.
 */
export async function createTestDatabase(
  t: { after(callback: () => Promise<void>): void } | null = null,
  options: { empty?: boolean } = {},
): Promise<TestDatabase> {
  const server = await sharedServer();
  const template = options.empty ? "template0" : await migratedTemplate(server);
  const name = `${prefix()}${randomBytes(4).toString("hex")}`;
  await onServer(server, (client) => client.query(`create database ${name} template ${template}`));
  const connectionString = at(server, name);
  const pool = createPool({ connectionString, applicationName: "test" });
  const pools = [pool];
  const logins: string[] = [];
  let closed = false;
  const database: TestDatabase = {
    name,
    connectionString,
    pool,
    async query(text, values) {
      return (await pool.query(text, values as unknown[])).rows;
    },
    as(role, settings = {}) {
      const url = new URL(connectionString);
      const chosen = Object.entries({ role, ...settings });
      url.searchParams.set("options", chosen.map(([key, value]) => `-c ${key}=${escaped(value)}`).join(" "));
      const own = createPool({ connectionString: url.href, applicationName: `test as ${role}` });
      pools.push(own);
      return own;
    },
    async login({ memberOf, attributes = "" } = {}) {
      const login = `${name}_${logins.length + 1}`;
      logins.push(login);
      await pool.query(`create role ${login} login password 'test' ${attributes}`);
      if (memberOf) await pool.query(`grant ${memberOf} to ${login}`);
      const url = new URL(connectionString);
      url.username = login;
      url.password = "test";
      return { name: login, connectionString: url.href };
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all(pools.map((each) => each.end()));
      await onServer(server, async (client) => {
        const left = await connectionsLeft(client, name);
        await client.query(`drop database ${name} with (force)`);
        for (const login of logins) await client.query(`drop role ${login}`);
        if (left.length > 0) throw new Error(`The test left connections to its database: ${left.join("; ")}`);
      });
    },
  };
  if (t) t.after(database.close);
  else after(database.close);
  return database;
}

/** Drops all databases of this run, for a server that stays. */
export async function dropDatabases(server: string): Promise<void> {
  await onServer(server, async (client) => {
    const { rows } = await client.query("select datname from pg_database where starts_with(datname, $1)", [
      prefix(),
    ]);
    for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`);
  });
}

let ownServer: Promise<string> | undefined;

/** The server of the run; a file that is run alone, without the global setup, starts one. */
function sharedServer(): Promise<string> {
  const { POSTHASTE_TEST_SERVER } = process.env;
  if (POSTHASTE_TEST_SERVER) return Promise.resolve(POSTHASTE_TEST_SERVER);
  ownServer ??= startServer().then((server) => server.connectionString);
  return ownServer;
}

/** The first test that needs it makes it for all files of the run; so an error of the SQL is seen where it matters. */
async function migratedTemplate(server: string): Promise<string> {
  const name = `${prefix()}template`;
  await onServer(server, async (client) => {
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
    const { rows } = await client.query("select from pg_database where datname = $1", [name]);
    if (rows.length > 0) return;
    await client.query(`drop database if exists ${name}_unfinished with (force)`);
    await client.query(`create database ${name}_unfinished template template0`);
    await migrate({ connectionString: at(server, `${name}_unfinished`) });
    await client.query(`alter database ${name}_unfinished rename to ${name}`);
  });
  return name;
}

function prefix(): string {
  return `posthaste_test_${process.env.POSTHASTE_TEST_RUN ?? process.pid}_`;
}

/** A backend ends a moment after its client has said goodbye. */
async function connectionsLeft(client: pg.Client, database: string): Promise<string[]> {
  const deadline = performance.now() + 2_000;
  for (;;) {
    const { rows } = await client.query(
      "select application_name, state, left(query, 80) as query from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
      [database],
    );
    if (rows.length === 0 || performance.now() > deadline) {
      return rows.map(
        (row) => `${row.application_name || "unnamed"}, ${row.state}, last statement: ${row.query}`,
      );
    }
    await delay(20);
  }
}

async function onServer<T>(server: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server, application_name: "test databases" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function at(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** In the `options` of a connection, spaces and backslashes are escaped by backslashes. */
function escaped(value: string): string {
  return value.replace(/[\\ ]/g, "\\$&");
}
