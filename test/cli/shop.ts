import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { bareEnvironment } from "../bare-environment.ts";
import { createTestDatabase, type TestDatabase } from "../database.ts";
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from "../smtp-server.ts";
import { folder, posthaste, type Run } from "./posthaste.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");

const WELCOME = `export const subject = "Welcome";
export default function Welcome({ name }) { return <p>Hello {name}</p>; }`;

/** A shop with a template, a database and a mail server, and the command line in its folder. */
export interface Shop {
  readonly database: TestDatabase;
  readonly server: SmtpServer;
  /** Runs a command to its end. */
  run(...args: readonly string[]): Promise<Run>;
  /** Starts a command that goes on. It is killed after the test when it still runs. */
  start(...args: readonly string[]): RunningCommand;
  /** Enqueues by SQL; returns the id. */
  enqueue(more?: string, recipient?: string): Promise<string>;
  /** The row. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows its columns.
  row(id: string): Promise<any>;
}

/** Makes a waiting mail one that was given up with the code, as a worker would. */
export async function failMail(
  database: TestDatabase,
  id: string,
  code = "template_not_found",
): Promise<void> {
  await database.query(
    "update posthaste.email_messages set status = 'SENDING', lease_token = id, locked_until = now() where id = $1",
    [id],
  );
  await database.query(
    `update posthaste.email_messages set status = 'FAILED', lease_token = null, locked_until = null, finished_at = now(),
       error_code = $2 where id = $1`,
    [id, code],
  );
}

/** A command that goes on. */
export interface RunningCommand {
  readonly child: ChildProcess;
  /** All of stderr so far. */
  readonly stderr: string;
  /** When stderr matches. Rejects when the process ends before. */
  said(pattern: RegExp): Promise<void>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** @param options.options of `posthaste` in the configuration, as source text */
export async function openShop(
  t: TestContext,
  options: { empty?: boolean; options?: string; smtp?: SmtpServerOptions } = {},
): Promise<Shop> {
  const database = await createTestDatabase(t, options.empty ? { empty: true } : {});
  const server = await startSmtpServer(options.smtp);
  t.after(() => server.close());
  const directory = folder(t, {
    "emails/welcome.tsx": WELCOME,
    "graphile.config.mjs": `export default { posthaste: { from: "Shop <no-reply@shop.example>", ${options.options ?? ""} } };`,
  });
  const environment = {
    DATABASE_URL: database.connectionString,
    SMTP_URL: server.url,
    POSTHASTE_LOG: "json",
    TZ: "UTC",
  };
  return {
    database,
    server,
    run: (...args) => posthaste(directory, args, environment),
    start: (...args) => startCommand(t, directory, args, environment),
    async enqueue(more = "", recipient = "ada@customer.example") {
      const [row] = await database.query(
        `select posthaste.enqueue('welcome', $1, '{"name": "secret-value"}'${more === "" ? "" : `, ${more}`}) as id`,
        [recipient],
      );
      return row.id;
    },
    row: async (id) =>
      (await database.query("select * from posthaste.email_messages where id = $1", [id]))[0],
  };
}

function startCommand(
  t: TestContext,
  directory: string,
  args: readonly string[],
  environment: Record<string, string>,
): RunningCommand {
  const child = spawn(process.execPath, ["--conditions=posthaste-source", MAIN, ...args], {
    cwd: directory,
    env: { ...bareEnvironment, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    child,
    ended,
    get stderr() {
      return stderr;
    },
    async said(pattern) {
      while (!pattern.test(stderr)) {
        const over = ended.then((code) => {
          if (!pattern.test(stderr)) throw new Error(`It ended with ${code} and said: ${stderr}`);
        });
        await Promise.race([child.stderr && once(child.stderr, "data"), over]);
      }
    },
  };
}
