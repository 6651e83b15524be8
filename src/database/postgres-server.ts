import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PosthasteError } from "../errors.ts";
import { initialiseData, type Place } from "./data-folder.ts";
import { canEnter, give, identity, type ServerUser, serverUser } from "./server-user.ts";
import { forgetDeadServer } from "./stale-lock.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

/** How a PostgreSQL server of ours is made. */
export interface PostgresServerOptions {
  /** Folder that holds `initdb`, `pg_ctl` and `postgres`. */
  readonly binaries: string;
  /** Folder that keeps the data for the next start. Default: none, everything is removed in the end. */
  readonly directory?: string | undefined;
  /** Port on 127.0.0.1. Default: a free one. */
  readonly port?: number | undefined;
  /** Server settings, e.g. `{ fsync: "off" }` where the data may be lost. Default: PostgreSQL's own. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Told in a sentence what is done to this machine, e.g. that a system user is added. Default: nobody. */
  readonly announce?: ((line: string) => void) | undefined;
}

/** A server that can be stopped and started again on the same port, until it is closed. */
export interface PostgresServer {
  /** Superuser `postgres`, database `postgres`, 127.0.0.1 only. */
  readonly connectionString: string;
  /** Error log of the server. */
  readonly log: string;
  /** Resolves when it takes connections. */
  start(): Promise<void>;
  /** `fast` ends sessions and writes a checkpoint; `immediate` is a crash: the next start recovers from the log. */
  stop(mode?: "fast" | "immediate"): Promise<void>;
  /** Stops for good and removes what is not to be kept. */
  close(): Promise<void>;
}

/**
 * Makes the data folder where there is none yet, and starts the server.
 * It does not outlive this process, however that ends: see `watchdog.ts`.
 */
export async function startPostgresServer(options: PostgresServerOptions): Promise<PostgresServer> {
  const announce = options.announce ?? (() => undefined);
  const user = serverUser(announce);
  const scratch = await makeScratch(user);
  const home = options.directory ?? scratch;
  try {
    const binaries = await reachableBinaries(options.binaries, user, scratch);
    const place: Place = { user, scratch, binaries, data: join(home, "data"), log: join(home, "server.log") };
    const password = await initialiseData(place, home);
    const watchdog = startWatchdog({ ...place, identity: identity(user) });
    try {
      const port = await startOnPort(place, watchdog, options);
      return {
        connectionString: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
        log: place.log,
        start: () => start(place, watchdog),
        stop: async (mode = "fast") => void (await watchdog.ask(mode)),
        close: () => watchdog.close(),
      };
    } catch (error) {
      await watchdog.close();
      throw error;
    }
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    throw error;
  }
}

async function makeScratch(user: ServerUser | null): Promise<string> {
  const base = canEnter(user, tmpdir()) ? tmpdir() : "/tmp";
  const scratch = await mkdtemp(join(base, "posthaste-postgres-"));
  await give(user, scratch);
  return scratch;
}

/** A project below /root is closed to the server's user, its node_modules too: then the binaries are copied. */
async function reachableBinaries(
  binaries: string,
  user: ServerUser | null,
  scratch: string,
): Promise<string> {
  if (canEnter(user, binaries)) return binaries;
  const copy = join(scratch, "postgresql");
  await cp(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

async function configure(place: Place, settings: Readonly<Record<string, string>>): Promise<void> {
  const fixed = { listen_addresses: "127.0.0.1", unix_socket_directories: "" };
  const lines = Object.entries({ ...fixed, ...settings }).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
  );
  const file = join(place.data, "posthaste.conf");
  await writeFile(file, `${lines.join("\n")}\n`);
  await give(place.user, file);
}

/** A port that was free a moment ago may be taken by now; then the next one is tried, unless the caller has named it. */
async function startOnPort(
  place: Place,
  watchdog: Watchdog,
  options: PostgresServerOptions,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    await configure(place, { port: String(port), ...options.settings });
    try {
      await start(place, watchdog);
      return port;
    } catch (error) {
      const taken = /Address already in use/.test((error as Error).message);
      if (!taken || options.port !== undefined || attempt === 5) throw error;
    }
  }
}

async function start(place: Place, watchdog: Watchdog): Promise<void> {
  await forgetDeadServer(place.data);
  if ((await watchdog.ask("start")) !== "started") throw await startError(place);
}

async function startError(place: Place): Promise<PosthasteError> {
  const log = await readFile(place.log, "utf8").catch(() => "");
  const lines = log.trim().split("\n").slice(-6).join("\n");
  const running = /lock file "postmaster.pid" already exists/.test(lines);
  const advice = running
    ? "Another process uses this folder: stop it first, or give this one another folder."
    : "The end of its log is above.";
  return new PosthasteError(`PostgreSQL did not start in ${dirname(place.data)}:\n${lines}\n${advice}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
