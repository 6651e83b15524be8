import pg from "pg";
import { masked } from "../configuration/masked.ts";
import { PosthasteError } from "../errors.ts";

/**
 * The URL of the database, when the driver can make something of it.
 * @param name where it was said: a variable of the environment, or a place in the configuration
 * @throws PosthasteError (usage) with the rule and the URL without its secrets
 */
export function checkedDatabaseUrl(url: string, name: string): string {
  // One of another kind would be taken for who knows what by the driver.
  if (!/^(postgres(ql)?:\/\/|socket:|\/)/i.test(url)) {
    const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0];
    const found = scheme === undefined ? "it has no such beginning" : `it begins with ${scheme}`;
    throw usage(`${name} must begin with postgres://, e.g. postgres://user@localhost/shop; ${found}.`);
  }
  try {
    const { host, port } = new pg.Client({ connectionString: url });
    if (/\S/.test(host) && !/\s/.test(host.trim()) && port >= 1 && port <= 65_535) return url;
  } catch (error) {
    // A certificate or key, as in ?sslrootcert=….
    if (error instanceof Error && "syscall" in error)
      throw usage(`${name} names a file that cannot be read: ${error.message}. Correct the path.`);
  }
  throw usage(
    `${name} must be a URL such as postgres://user:password@host:5432/shop, with special characters of user and password ` +
      `percent-encoded and a port of 1 to 65535; received ${JSON.stringify(masked(url))}.`,
  );
}

/** A URL of a database, or a PosthasteError (usage) that says that it is needed. */
export function requireDatabaseUrl(url: string | null | undefined, name = "DATABASE_URL"): string {
  if (url) return checkedDatabaseUrl(url, name);
  throw usage(
    "There is no DATABASE_URL: set it to the database that holds your application's data, e.g. postgres://user@localhost/shop.",
  );
}

/** `host:port/database`: what may be printed of a connection string. */
export function describeDatabase(connectionString: string): string {
  try {
    const url = new URL(connectionString);
    const host = url.hostname || url.searchParams.get("host") || "localhost";
    return `${host}:${url.port || "5432"}${url.pathname}`;
  } catch {
    return "the given URL";
  }
}

function usage(sentence: string): PosthasteError {
  return new PosthasteError(sentence, { exitCode: 2 });
}
