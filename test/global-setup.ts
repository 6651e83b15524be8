import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dropDatabases } from "./database.ts";
import { startServer } from "./server.ts";

// One server for the whole run: Node's test runner starts a process for each file, and they find it in the environment.
let stop = async () => {};
let compiled = "";

export async function globalSetup(): Promise<void> {
  process.env.POSTHASTE_TEST_RUN = randomBytes(4).toString("hex");
  // Hundreds of processes load the same modules: with what the first ones compiled the others start in half the time.
  compiled = await mkdtemp(join(tmpdir(), "posthaste-compiled-"));
  process.env.NODE_COMPILE_CACHE = compiled;
  if (process.env.DATABASE_URL) {
    const { DATABASE_URL } = process.env;
    process.env.POSTHASTE_TEST_SERVER = DATABASE_URL;
    stop = () => dropDatabases(DATABASE_URL);
  } else {
    const server = await startServer();
    process.env.POSTHASTE_TEST_SERVER = server.connectionString;
    stop = () => server.close();
  }
}

export async function globalTeardown(): Promise<void> {
  await stop();
  await rm(compiled, { recursive: true, force: true });
}
