import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PosthasteError } from "../errors.ts";
import { canEnter, type ServerUser, serverUser } from "./server-user.ts";
import { startWatchdog } from "./watchdog.ts";

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
  const place: Place = {
    user,
    scratch,
    binaries: "",
    data: join(home, "data"),
    log: join(home, "server.log"),
  };
  try {
    place.binaries = await reachableBinaries(options.binaries, place);
    const password = await initialise(place, home);
    const port = options.port ?? (await freePort());
    await configure(place, { port: String(port), ...options.settings });
    const watchdog = startWatchdog({ ...place, identity: identity(place) });
    const server: PostgresServer = {
      connectionString: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      log: place.log,
      async start() {
        if ((await watchdog.ask("start")) !== "started") throw await startError(place);
      },
      async stop(mode = "fast") {
        await watchdog.ask(mode);
      },
      close: () => watchdog.close(),
    };
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    throw error;
  }
}

interface Place {
  readonly user: ServerUser | null;
  /** Removed in the end, in any case. */
  readonly scratch: string;
  binaries: string;
  readonly data: string;
  readonly log: string;
}

async function makeScratch(user: ServerUser | null): Promise<string> {
  const base = canEnter(user, tmpdir()) ? tmpdir() : "/tmp";
  const scratch = await mkdtemp(join(base, "posthaste-postgres-"));
  await give(user, scratch);
  return scratch;
}

/** A project below /root is closed to the server's user, its node_modules too: then the binaries are copied. */
async function reachableBinaries(binaries: string, { user, scratch }: Place): Promise<string> {
  if (canEnter(user, binaries)) return binaries;
  const copy = join(scratch, "postgresql");
  await cp(dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

/** Returns the superuser's password, which lies beside the data. */
async function initialise(place: Place, home: string): Promise<string> {
  const passwordFile = join(home, "password");
  const major = majorVersion(place);
  const found = await readFile(join(place.data, "PG_VERSION"), "utf8").catch(() => null);
  if (found !== null && Number(found) !== major) {
    throw new PosthasteError(
      `The folder ${home} holds data of PostgreSQL ${found.trim()}, and this is PostgreSQL ${major}. ` +
        "Remove the folder to begin anew, or dump and restore what you need of it.",
    );
  }
  if (found !== null) return (await readFile(passwordFile, "utf8")).trim();
  const password = randomBytes(18).toString("base64url");
  await writeFile(passwordFile, password, { mode: 0o600 });
  await give(place.user, passwordFile);
  // A death in the middle leaves only data.new behind: the folder `data` is whole or it is not there.
  const unfinished = `${place.data}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const locale =
    major >= 17
      ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
      : ["--locale=C.UTF-8"];
  // The password is asked for in the clear because only 127.0.0.1 is listened on, and it spares each connection SCRAM's work.
  const flags = ["--no-sync", "--username=postgres", "--auth=password", "--encoding=UTF8", ...locale];
  const result = spawnSync(
    join(place.binaries, "initdb"),
    [...flags, `--pwfile=${passwordFile}`, `--pgdata=${unfinished}`],
    { ...identity(place), encoding: "utf8" },
  );
  if (result.status !== 0) {
    throw new PosthasteError(
      `initdb failed in ${home}: ${result.error?.message ?? result.stderr.trim().slice(-1000)}`,
    );
  }
  await writeFile(join(unfinished, "postgresql.conf"), "\ninclude 'posthaste.conf'\n", { flag: "a" });
  await rename(unfinished, place.data);
  return password;
}

function majorVersion(place: Place): number {
  const result = spawnSync(join(place.binaries, "postgres"), ["--version"], {
    ...identity(place),
    encoding: "utf8",
  });
  const major = /\(PostgreSQL\) (\d+)/.exec(result.stdout ?? "")?.[1];
  if (major) return Number(major);
  throw new PosthasteError(
    `${join(place.binaries, "postgres")} cannot be run: ${result.error?.message ?? result.stderr.trim()}. ` +
      "Install its package again, with its install scripts allowed.",
  );
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

async function startError(place: Place): Promise<PosthasteError> {
  const log = await readFile(place.log, "utf8").catch(() => "");
  const lines = log.trim().split("\n").slice(-6).join("\n");
  const running = /lock file "postmaster.pid" already exists/.test(lines);
  const advice = running
    ? "Another process uses this folder: stop it first, or give this one another folder."
    : "The end of its log is above.";
  return new PosthasteError(`PostgreSQL did not start in ${dirname(place.data)}:\n${lines}\n${advice}`);
}

function identity({ user }: Pick<Place, "user">): { uid?: number; gid?: number; cwd: string } {
  return user ? { uid: user.uid, gid: user.gid, cwd: "/" } : { cwd: "/" };
}

async function give(user: ServerUser | null, path: string): Promise<void> {
  if (user) await chown(path, user.uid, user.gid);
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
