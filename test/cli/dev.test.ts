import assert from "node:assert/strict";
import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { exampleCall } from "../../src/cli/dev/example.ts";
import { freePort } from "../../src/cli/dev/free-port.ts";
import { startMailView } from "../../src/cli/dev/mail-view.ts";
import { createTestDatabase } from "../database.ts";
import { folder, posthaste } from "./posthaste.ts";
import { processesWith, type Running, start, temporaryFolder } from "./running.ts";

const LIMIT = { timeout: 40_000 };
const CONFIG = `export default { posthaste: { from: "Shop <no-reply@shop.example>", emails: "./emails" } };`;
const WELCOME = `export const subject = "Welcome";
export default function Welcome({ name }) { return <p>Good morning {name}</p>; }
Welcome.PreviewProps = { name: "Ada" };`;

/** A project outside of any install, which PostgreSQL's system user can enter. */
function project(t: TestContext): string {
  const directory = folder(t, { "graphile.config.mjs": CONFIG, "emails/welcome.tsx": WELCOME });
  chmodSync(directory, 0o755);
  return directory;
}

/** Starts dev; resolves when it says that it is ready. */
async function startDev(
  t: TestContext,
  directory: string,
  options: { flags?: readonly string[]; environment?: Record<string, string> } = {},
): Promise<Running & { address(of: "database" | "mail" | "preview"): string }> {
  const { flags = ["--no-preview"], environment = {} } = options;
  const dev = start(t, directory, ["dev", ...flags], { TMPDIR: temporaryFolder(t), ...environment });
  await dev.said(/Ctrl-C ends it/);
  const address = (of: string) => new RegExp(`^ {2}${of} +(\\S+)`, "m").exec(dev.output)?.[1] ?? "";
  return Object.assign(dev, { address });
}

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows;
}

async function caught(view: string): Promise<{ subject: string; html: string; envelope: object }[]> {
  return (await fetch(`${view}/api/email`)).json() as Promise<
    { subject: string; html: string; envelope: object }[]
  >;
}

const ENQUEUE = `select posthaste.enqueue('welcome', 'ada@example.com', '{"name": "Ada"}')`;
const SENT = /"event":"email_sent"/;
/** Seen so many times. */
const times = (pattern: RegExp, count: number) => new RegExp(`(?:${pattern.source}[\\s\\S]*){${count}}`);

test(
  "dev sends mail to the view, shows the preview, takes a changed template, and ends with SIGINT",
  LIMIT,
  async (t) => {
    const directory = project(t);
    const dev = await startDev(t, directory, { flags: [] });
    const [database, mail, preview] = [dev.address("database"), dev.address("mail"), dev.address("preview")];
    assert.match(dev.output, /psql "\$DATABASE_URL"\n\n {2}select posthaste\.enqueue\('welcome', /);
    // What is to be copied into another terminal lets the commands there find the database.
    const exported = [...dev.output.matchAll(/^ {2}export (DATABASE_URL|SMTP_URL)='(\S+)'$/gm)];
    const environment = Object.fromEntries(exported.map(([, name = "", value = ""]) => [name, value]));
    const elsewhere = (...args: string[]) => posthaste(directory, args, environment);
    const enqueued = await elsewhere(
      "enqueue",
      "welcome",
      "ada@example.com",
      "--parameters",
      '{"name":"Ada"}',
    );
    await dev.said(SENT);
    assert.match((await elsewhere("show", enqueued.stdout.trim())).stdout, /^SENT /);
    assert.match((await elsewhere("status")).stdout, /^Mail flows\. Nothing is due\.\n\n/);
    const check = await elsewhere("check", "--database");
    assert.match(check.stdout, /^warn {2}database: .*posthaste dev.*\nok {4}transport default: /m);
    assert.equal(check.code, 0, check.stdout);
    const [first] = await caught(mail);
    assert.equal(first?.subject, "Welcome");
    assert.match(first?.html ?? "", /Good morning.*Ada/);

    writeFileSync(join(directory, "being-written"), WELCOME.replaceAll("Good morning", "Good evening"));
    renameSync(join(directory, "being-written"), join(directory, "emails/welcome.tsx"));
    await dev.said(times(/"event":"templates_loaded"/, 2));
    await query(database, ENQUEUE);
    await dev.said(times(SENT, 2));
    writeFileSync(join(directory, "emails/broken.tsx"), "export default (");
    await dev.said(
      /"event":"template_broken".*"template":"broken".*"reason":"emails\/broken\.tsx:1:\d+: Unexpected end of file/,
    );
    assert.match((await caught(mail))[1]?.html ?? "", /Good evening.*Ada/);

    assert.match(await (await fetch(`${preview}/preview/welcome`)).text(), /<title>welcome/);
    assert.match(await (await fetch(mail, { headers: { accept: "text/html" } })).text(), /<title>MailDev/);

    dev.child.kill("SIGINT");
    assert.equal(await dev.ended, 0);
    for (const address of [mail, preview]) await assert.rejects(fetch(address));
    await assert.rejects(query(database, "select 1"), { code: "ECONNREFUSED" });
    assert.deepEqual(processesWith(directory), []);
  },
);

test("dev goes on where it was after a SIGKILL, on the same address", LIMIT, async (t) => {
  const directory = project(t);
  const first = await startDev(t, directory);
  await query(first.address("database"), ENQUEUE);
  await first.said(SENT);
  first.child.kill("SIGKILL");
  assert.equal(await first.ended, "SIGKILL");

  const second = await startDev(t, directory);
  const third = start(t, directory, ["dev", "--no-preview"], { TMPDIR: temporaryFolder(t) });
  assert.equal(await third.ended, 1);
  assert.equal(
    third.output,
    `posthaste: posthaste dev already runs here (PID ${second.child.pid}): use that one, or stop it first.\n`,
  );
  assert.equal(second.address("database"), first.address("database"));
  await query(second.address("database"), ENQUEUE);
  await second.said(SENT);
  const rows = await query(second.address("database"), "select status from posthaste.email_messages");
  assert.deepEqual(rows, [{ status: "SENT" }, { status: "SENT" }]);
  assert.equal((await caught(second.address("mail"))).length, 2);
  second.child.kill("SIGTERM");
  assert.equal(await second.ended, 0);
  assert.deepEqual(processesWith(directory), []);
});

test(
  "dev goes on when a template never ends, and says which one ends it when it is loaded",
  LIMIT,
  async (t) => {
    const directory = project(t);
    writeFileSync(
      join(directory, "graphile.config.mjs"),
      CONFIG.replace("emails:", 'timeouts: { render: "2s" }, emails:'),
    );
    writeFileSync(
      join(directory, "emails/loop.tsx"),
      'export const subject = "Loop"; export default function Loop() { while (true) {} }',
    );
    const dev = await startDev(t, directory);
    await query(dev.address("database"), "select posthaste.enqueue('loop', 'ada@example.com')");
    await dev.said(/"event":"renderer_lost".*"template":"loop"/);
    await query(dev.address("database"), ENQUEUE);
    await dev.said(SENT);
    await dev.said(/"event":"email_failed".*"code":"render_timeout"/);
    writeFileSync(join(directory, "emails/top.tsx"), "while (true) {}");
    await dev.said(/"event":"worker_blocked".*"template":"top"/);
    assert.equal(await dev.ended, "SIGKILL");
  },
);

test("dev with DATABASE_URL uses that database, and shows no password of it", LIMIT, async (t) => {
  const { connectionString, query: ask } = await createTestDatabase(t, { empty: true });
  const dev = await startDev(t, project(t), { environment: { DATABASE_URL: connectionString } });
  const { hostname, port, pathname, password } = new URL(connectionString);
  assert.equal(dev.address("database"), `${hostname}:${port}${pathname}`);
  assert.ok(!dev.output.includes(password));
  await ask(ENQUEUE);
  await dev.said(SENT);
  assert.equal((await caught(dev.address("mail"))).length, 1);
  dev.child.kill("SIGINT");
  assert.equal(await dev.ended, 0);
});

test("dev refuses production's database, and changes nothing there", LIMIT, async (t) => {
  const { connectionString, query: ask } = await createTestDatabase(t);
  await ask(ENQUEUE);
  const environment = { DATABASE_URL: connectionString, TMPDIR: temporaryFolder(t) };
  const dev = start(t, project(t), ["dev", "--no-preview"], environment);
  assert.equal(await dev.ended, 1);
  assert.match(
    dev.output,
    /^posthaste: dev needs a database of the environment "development", .* "production": /m,
  );
  assert.deepEqual(await ask("select status from posthaste.email_messages"), [{ status: "PENDING" }]);
});

test("the view of caught mail answers neither foreign pages nor foreign host names", async (t) => {
  const [smtpPort, webPort] = [await freePort(42_025), await freePort(42_080)];
  const view = await startMailView({ smtpPort, webPort, directory: temporaryFolder(t) });
  t.after(() => view.close());
  const status = (headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      const asked = request(`${view.url}/api/email`, { headers, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on("error", reject).end();
    });
  assert.equal(await status({}), 200);
  assert.equal(await status({ origin: view.url }), 200);
  assert.equal(await status({ origin: "https://elsewhere.example" }), 403);
  assert.equal(await status({ host: `elsewhere.example:${webPort}` }), 403);
});

test("the example takes the simplest template without secrets, with SQL's own quoting", async (t) => {
  const template = (name: string, rest: string) =>
    `${rest}export const subject = "x"; export default function T() { return <p>x</p>; } T.PreviewProps = { name: "${name}", more: 1 };`;
  const required = `import { z } from "zod"; export const parameters = z.object({ name: z.string() });`;
  const directory = folder(t, {
    "code.tsx": template("Ada", `export const secrets = ["code"];`),
    "hello.tsx": template("Grace O'Hara", required),
    "broken.tsx": "export default (",
  });
  assert.equal(
    await exampleCall(directory),
    `select posthaste.enqueue('hello', 'you@example.com', '{"name":"Grace O''Hara"}');`,
  );
  const without = folder(t, { "hello.tsx": template("Ada", "") });
  assert.equal(
    await exampleCall(without),
    `select posthaste.enqueue('hello', 'you@example.com', '{"name":"Ada","more":1}');`,
    "without a schema it takes the whole sample",
  );
});
