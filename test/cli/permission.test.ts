import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { folder, posthaste } from "./posthaste.ts";
import { failMail } from "./shop.ts";

const CONFIG = `export default { posthaste: { from: "a@shop.example", transports: { default: { url: "smtp://127.0.0.1:1" } } } };`;

/** The command line as a login that has one of the roles, or none. */
async function commandsOf(t: TestContext, role: "producer" | "operator" | null) {
  const database = await createTestDatabase(t);
  const login = await database.login(role === null ? {} : { memberOf: `posthaste_${role}` });
  const directory = folder(t, {
    "graphile.config.mjs": CONFIG,
    "emails/welcome.tsx": `export const subject = "x"; export default function W() { return <p>x</p>; }`,
  });
  const run = (...args: string[]) => posthaste(directory, args, { DATABASE_URL: login.connectionString });
  return { database, login: login.name, run };
}

test("an operator's login does all that operators do", async (t) => {
  const { database, run } = await commandsOf(t, "operator");
  const enqueue = async (more: string): Promise<string> =>
    (await database.query(`select posthaste.enqueue('welcome', 'ada@customer.example', ${more}) as id`))[0]
      .id;
  const id = await enqueue("reference => 'user:1', transport => 'bulk', idempotency_key => 'w:1'");
  const failed = await enqueue("reference => 'user:2'");
  await failMail(database, failed);
  for (const args of [
    ["list"],
    ["list", "--transport", "bulk"],
    ["list", "--recipient", "ada@customer.example"],
    ["list", "--reference", "user:1", "--status", "PENDING", "--since", "2h"],
    ["show", id],
    ["show", "w:1"],
    ["show", "user:1"],
    ["retry", failed],
    ["retry", "--all", "--dry-run"],
    ["pause", "default"],
    ["resume", "default"],
    ["cancel", id, "--dry-run"],
    ["cancel", id],
    ["cancel", "--reference", "user:2"],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    if (["list", "show"].includes(args[0] ?? "")) assert.ok(stdout.includes(id), stdout);
  }
  // It is told, and no worker runs here.
  const status = await run("status");
  assert.deepEqual([status.code, status.stderr], [1, ""]);
});

test("a producer's login enqueues, and is told as much as email_status tells", async (t) => {
  const { database, run, login } = await commandsOf(t, "producer");
  const done = await run("enqueue", "welcome", "ada@customer.example");
  assert.deepEqual([done.code, done.stderr], [0, ""]);
  const rows = await database.query("select id from posthaste.email_messages");
  assert.deepEqual(rows, [{ id: done.stdout.trim() }]);
  const failed = await run("enqueue", "welcome", "ada@customer", "--key", "w:1");
  assert.deepEqual([failed.code, failed.stderr], [1, "posthaste: it is FAILED: recipient_invalid.\n"]);
  const denied = await run("list");
  assert.match(
    denied.stderr,
    new RegExp(
      `^posthaste: The login "${login}" may not do that .*\`posthaste list\` needs the role posthaste_operator: .*\`posthaste migrate --grant operator=${login}\`\\.\n$`,
    ),
  );
  assert.equal(denied.code, 1);
});

test("permission denied is a sentence in every command, and offers nobody the owner's login", async (t) => {
  const { run } = await commandsOf(t, null);
  for (const [command, need] of [
    ["enqueue welcome a@b.example", "needs the role posthaste_producer"],
    ["status", "needs the role posthaste_operator"],
    ["show x", "needs the role posthaste_operator"],
    ["worker --once", "runs as the login that owns Posthaste's schemas"],
    ["configure strict on", "runs as the login that owns"],
    ["purge", "runs as the login that owns"],
  ] as const) {
    const { code, stderr } = await run(...command.split(" "));
    assert.match(stderr, /^posthaste: The login ".*" may not do that in this database \(permission denied /);
    assert.ok(stderr.includes(need), stderr);
    assert.doesNotMatch(stderr, /unexpected|in DATABASE_URL/);
    assert.equal(code, 1);
  }
  const { stdout, code } = await run("check");
  assert.match(stdout, /^ERROR database: The login ".*" may not do that .*runs as the login that owns/m);
  assert.equal(code, 1);
});
