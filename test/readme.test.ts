import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { bareEnvironment } from "./bare-environment.ts";
import { posthaste } from "./cli/posthaste.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { httpLogin, SECRET, tokenFor } from "./graphql/serving.ts";
import { startSmtpServer } from "./smtp-server.ts";

const ROOT = join(import.meta.dirname, "..");
const MAIN = join(ROOT, "src/cli/main.ts");
const SCRIPTS = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts as Record<
  string,
  string
>;

/** Where README's files go, in the order in which it shows them. */
const FILES = [
  "emails/welcome.tsx",
  "emails/parcel-sent.tsx",
  "emails/_components/rich-text.tsx",
  "graphile.config.ts",
  "api/graphile.config.ts",
  "tasks/posthaste/send_email.ts",
  "tasks/posthaste/purge_emails.ts",
];

/** Commands that go on until they are stopped, and what each prints when it is ready. */
const LASTING: Readonly<Record<string, RegExp>> = {
  worker: /worker_started/,
  preview: /http:\/\//,
  serve: /"http_started".*"url":"([^"]+)"/,
};

test("a reader can follow README from top to bottom", async (t) => {
  // Before the database's own clean-up, which refuses to drop it under somebody's feet.
  const lasting: ChildProcess[] = [];
  t.after(() => Promise.all(lasting.map(stop)));
  const database = await createTestDatabase(t);
  const server = await startSmtpServer();
  t.after(() => server.close());
  const directory = mkdtempSync(join(tmpdir(), "posthaste-readme-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const http = await httpLogin(database);
  const environment = {
    POSTHASTE_HTTP_DATABASE_URL: http.connectionString,
    POSTHASTE_JWT_SECRET: SECRET,
    DATABASE_URL: database.connectionString,
    SMTP_URL: server.url,
    POSTHASTE_FROM: "Shop <no-reply@shop.example>",
    POSTHASTE_LOG: "json",
  };
  // Logins belong to the whole server, so README's names are stood in for.
  const logins = { shop_app: (await database.login()).name, ops: (await database.login()).name };
  const files = [...FILES];
  let served = "";

  for (const { language, text } of blocks()) {
    if (language === "sql") {
      await database.pool.query(
        text.replace(/create role shop_http .*;/, "").replaceAll("shop_http", http.name),
      );
      if (text.includes("'welcome'"))
        assert.match((await server.nextMessage()).raw.toString(), /Good to have you here, Jane/);
    } else if (language === "tsx" || language === "ts") {
      const file = join(directory, files.shift() ?? "one file too many");
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    } else if (language === "sh") {
      for (const line of text.trim().split("\n")) await follow(line);
    } else if (language === "graphql") {
      await ask(text);
    } else {
      await runStatementsIn(database, text);
    }
  }
  assert.deepEqual(files, [], "README shows all files");

  async function follow(line: string): Promise<void> {
    const [, args] = /^npx posthaste (.*)$/.exec(line) ?? [];
    if (args === undefined) return assertKnown(line);
    const named = args.replace(/=(shop_app|ops)\b/g, (_, name: keyof typeof logins) => `=${logins[name]}`);
    const words = [...named.replace(/ > \S+$/, "").matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, bare]) => quoted ?? bare ?? "",
    );
    const ready = LASTING[words[0] ?? ""];
    if (ready) return startAndLeave(words, ready);
    const run = await posthaste(directory, words, environment);
    const expected = words[0] === "status" ? [0, 1] : [0];
    assert.ok(expected.includes(run.code ?? -1), `${line}: exit ${run.code}\n${run.stdout}${run.stderr}`);
    assert.notEqual(run.stdout, "", line);
  }

  /** A page for customers is asked by one of them, the others by an operator. */
  async function ask(query: string): Promise<void> {
    const who = query.includes("OrderPage") ? ({ role: "viewer", owner: "customer:7" } as const) : {};
    const answer = await fetch(`${served}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${await tokenFor(who)}` },
      body: JSON.stringify({ query }),
    });
    const { data, errors } = await answer.json();
    assert.equal(errors, undefined, JSON.stringify(errors));
    const { nodes } = data.emails ?? data.operatorActions ?? { nodes: [data] };
    assert.ok(nodes.length > 0, query);
  }

  async function startAndLeave(words: readonly string[], ready: RegExp): Promise<void> {
    if (words[0] === "preview") cpSync(join(ROOT, "emails"), join(directory, "emails"), { recursive: true });
    const args = words[0] === "serve" ? [...words, "--port", "0"] : words;
    const child = spawn(process.execPath, ["--conditions=posthaste-source", MAIN, ...args], {
      cwd: directory,
      env: { ...bareEnvironment, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    lasting.push(child);
    let printed = "";
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`${words.join(" ")} ended with ${code}: ${printed}`)));
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          printed += chunk;
          const found = ready.exec(printed);
          if (words[0] === "serve") served = found?.[1] ?? "";
          if (found) resolve();
        });
      }
    });
  }
});

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  if (child.exitCode === null && child.kill("SIGTERM")) await ended;
}

/** Code blocks with a language, in order; drawings are none, and Prometheus' own files are test/metrics/alerts.test.ts'. */
function blocks(): { language: string; text: string }[] {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  return [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .map(([, language = "", text = ""]) => ({ language, text }))
    .filter(({ language }) => !["text", "mermaid", "yaml"].includes(language));
}

/** What is no command of ours: scripts must exist, and variables must be those that are read. */
function assertKnown(line: string): void {
  for (const command of line.split(" && ")) {
    const [program = "", verb = "", name = ""] = command.split(" ");
    if (program === "export")
      assert.match(
        verb,
        /^(DATABASE_URL|SMTP_URL|POSTHASTE_FROM|POSTHASTE_HTTP_DATABASE_URL|POSTHASTE_JWT_SECRET)=/,
      );
    else if (command === "npm ci" || command.startsWith("npm install posthaste ")) continue;
    else
      assert.ok(program === "npm" && (verb === "test" ? "test" : name) in SCRIPTS, `${line}: no such script`);
  }
}

/** The statements that programs in other languages send, with a value for each of their parameters. */
async function runStatementsIn(database: TestDatabase, program: string): Promise<void> {
  const statements = [...program.matchAll(/"((?:select|update) .*?)"/g)].map(
    ([, statement = ""]) => statement,
  );
  assert.ok(statements.length > 0, "an example sends a statement");
  for (const statement of statements) {
    let count = 0;
    const numbered = statement.replaceAll(/%s/g, () => `$${++count}`);
    const values = statement.startsWith("update")
      ? ["1"]
      : ["jane@shop.example", "A-1004", "order-confirmed:4"];
    await database.pool.query(numbered, values);
  }
}
