import type pg from "pg";
import { PosthasteError } from "../errors.ts";

/** What Posthaste needs to know about a server. */
export interface ServerFacts {
  /** server_version_num, e.g. 150013. */
  readonly version: number;
  /** Of the database. */
  readonly encoding: string;
  /** Whether it only follows another server. */
  readonly standby: boolean;
}

/** Throws a PosthasteError when Posthaste cannot be installed in this database. */
export async function checkServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<ServerFacts>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
       pg_is_in_recovery() as standby`,
  );
  const problem = rows[0] && serverProblem(rows[0]);
  if (problem) throw new PosthasteError(problem);
}

/** The rule that a server breaks and what to do, null when it breaks none. */
export function serverProblem(server: ServerFacts): string | null {
  if (server.version < 150_000) {
    return `Posthaste needs PostgreSQL 15 or later; this server is ${Math.floor(server.version / 10_000)}. Update the server.`;
  }
  if (server.encoding !== "UTF8") {
    return (
      `Posthaste needs a database with the encoding UTF8; this one has ${server.encoding}. ` +
      "Create one with `create database … encoding 'UTF8' template template0`."
    );
  }
  return server.standby
    ? "This server is a standby, which cannot be changed: point DATABASE_URL to the primary."
    : null;
}
