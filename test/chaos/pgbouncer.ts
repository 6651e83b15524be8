import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../src/database/pool.ts";
import { give, identity, serverUser } from "../../src/database/server-user.ts";
import { installDebianPackage } from "../debian-package.ts";
import { eventually } from "../faults/eventually.ts";

/** A PgBouncer in transaction mode between a producer and its database. */
export interface PgBouncer {
  readonly connectionString: string;
  close(): Promise<void>;
}

/** Where Debian's package puts it. */
const BINARY = "/usr/sbin/pgbouncer";

/** Starts one before the server of this URL. It is installed when this is root's process on Debian or Ubuntu. */
export async function startPgBouncer(target: string): Promise<PgBouncer> {
  if (!existsSync(BINARY) && !installDebianPackage("pgbouncer")) {
    throw new Error(
      `The soak needs PgBouncer in ${BINARY}. Install it (Debian, Ubuntu: apt-get install pgbouncer).`,
    );
  }
  const { hostname, port, username, password, pathname } = new URL(target);
  const user = serverUser(() => undefined);
  const home = await mkdtemp(join(tmpdir(), "posthaste-pgbouncer-"));
  const listenPort = await freePort();
  const settings = join(home, "pgbouncer.ini");
  await writeFile(
    settings,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_login_retry = 1
logfile = ${join(home, "pgbouncer.log")}
`,
  );
  await give(user, home);
  await give(user, settings);
  const child = spawn(BINARY, ["-q", settings], { ...identity(user), stdio: "ignore" });
  const exited = once(child, "exit");
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const url = new URL(target);
  url.port = String(listenPort);
  const close = async () => {
    process.off("exit", kill);
    kill();
    await exited;
    await rm(home, { recursive: true, force: true });
  };
  try {
    await eventually("PgBouncer takes connections", async () => {
      const client = await connect({ connectionString: url.href, applicationName: "test" }).catch(() => null);
      await client?.end();
      return client !== null;
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { connectionString: url.href, close };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
