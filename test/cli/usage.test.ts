import assert from "node:assert/strict";
import { test } from "node:test";
import { folder, posthaste } from "./posthaste.ts";

const ID = "00000000-0000-7000-8000-000000000000";

const CASES: readonly (readonly [string, RegExp])[] = [
  ["worker --onec", /unknown option '--onec'; did you mean --once\?/],
  ["worker more", /too many arguments for 'worker'/],
  ["start --once", /unknown option '--once'/],
  ["status more", /too many arguments for 'status'/],
  ["enqueue", /missing required argument 'template'/],
  ["enqueue welcome", /missing required argument 'recipient'/],
  ["enqueue welcome a@b.example --parameters [1]", /--parameters must be a JSON object/],
  ["enqueue welcome a@b.example --param secret", /--param must be name=value\.$/m],
  ["enqueue welcome a@b.example --header secret", /--header must be name=value\.$/m],
  [
    "enqueue welcome a@b.example --priority high",
    /'--priority <number>' .*whole number from -32768 to 32767/,
  ],
  ["enqueue welcome a@b.example --send-at soon", /'--send-at <time>' .*duration such as .*\(from now\)/],
  ["list --status failled", /'--status <status>' .*Did you mean FAILED\?/],
  ["list --error-code recipient_invald", /Did you mean recipient_invalid\?/],
  ["list --error-code xyz", /It must be one of recipient_invalid, /],
  ["list --since 2026-02-30", /'--since <time>' .*\(ago\), or a time/],
  ["list --since 2x", /'--since <time>'/],
  ["list --limit 0", /whole number from 1 to 10000/],
  ["show", /missing required argument 'mail'/],
  ["retry", /retry needs mails, or filters such as --since 2h, or --all\./],
  ["cancel --dry-run", /cancel needs mails, or filters/],
  ["retry --status SENT", /It must be one of FAILED/],
  ["cancel --status SENT", /It must be one of PENDING/],
  [`retry ${ID} --since 2h`, /retry takes either mails, or filters, or --all/],
  ["cancel --all --template welcome", /cancel takes either mails, or filters, or --all/],
  ["render welcome --locale !!", /'--locale <tag>' .*must be a BCP 47 tag such as de, de-CH/],
  ["retry --all --max none", /whole number from 1 to 100000/],
  ["pause", /missing required argument 'transport'/],
  ["pause default why", /too many arguments for 'pause'/],
  ["resume", /missing required argument 'transport'/],
  ["configure strict", /missing required argument 'value'/],
  ["configure strikt on", /There is no setting "strikt"; did you mean strict\?/],
  ["configure strict maybe", /strict must be on or off; it was "maybe"\./],
  ["configure environment a.b", /environment must be a word of letters/],
  ...["status", "list", "show x", "retry --all", "enqueue welcome a@b.example", "resume default"].map(
    (line) => [line, /There is no DATABASE_URL: set it/] as const,
  ),
];

test("wrong usage of each command is one sentence on stderr, exit code 2", async (t) => {
  const directory = folder(t, {});
  await eachOf(CASES, async ([line, message]) => {
    const run = await posthaste(directory, line.split(" "));
    assert.match(run.stderr, /^posthaste: [^\n]+\n$/, line);
    assert.match(run.stderr, message, line);
    assert.doesNotMatch(run.stderr, /secret/);
    assert.deepEqual([run.code, run.stdout], [2, ""], line);
  });
});

test("a database that cannot be reached is one sentence for every command, exit code 1", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": `export default { posthaste: { from: "a@shop.example", transports: { default: { url: "smtp://127.0.0.1:1" } } } };`,
  });
  const environment = { DATABASE_URL: "postgres://shop:hunter2@127.0.0.1:1/shop" };
  const lines = [
    ...["worker", "worker --once", "start", "status --json", "enqueue welcome a@b.example", "list --json"],
    ...["show x", "retry --all", `cancel ${ID}`, "pause default", "resume default", "configure strict on"],
  ];
  await eachOf(lines, async (line) => {
    const run = await posthaste(directory, line.split(" "), environment);
    assert.match(run.stderr, /^posthaste: Cannot connect to PostgreSQL at 127\.0\.0\.1:1\/shop: .*\n$/, line);
    assert.doesNotMatch(run.stderr, /hunter2/);
    assert.deepEqual([run.code, run.stdout], [1, ""], line);
  });
});

test("an operator gets in although the configuration file is broken", async (t) => {
  const directory = folder(t, { "graphile.config.mjs": "export default (" });
  const run = await posthaste(directory, ["status"], { DATABASE_URL: "postgres://127.0.0.1:1/shop" });
  assert.match(run.stderr, /^posthaste: Cannot connect to PostgreSQL/);
});

test("a URL that cannot be one of PostgreSQL is wrong usage that names where it was said, without its password", async (t) => {
  const directory = folder(t, {
    "emails/welcome.tsx": "",
    "file.mjs": `export default { worker: { connectionString: "mysql://shop:hunter2@db.example/shop" } };`,
  });
  const http = { POSTHASTE_JWT_SECRET: "x".repeat(40) };
  const broken = "postgres://shop:hunter2@db.example:99999/shop";
  const cases: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    [
      "status",
      { DATABASE_URL: "mysql://shop:hunter2@db.example/shop" },
      /^DATABASE_URL must .*; it begins with mysql:\/\/\.$/,
    ],
    [
      "list",
      { DATABASE_URL: "shop:hunter2@localhost/shop" },
      /^DATABASE_URL must .*; it has no such beginning\.$/,
    ],
    [
      "migrate",
      { DATABASE_URL: broken },
      /^DATABASE_URL must .*; received "postgres:\/\/\*\*\*@db\.example:99999"\.$/,
    ],
    ["serve", { ...http, POSTHASTE_HTTP_DATABASE_URL: broken }, /^POSTHASTE_HTTP_DATABASE_URL must be a URL/],
    ["status --config file.mjs", {}, /^worker\.connectionString must begin .*; it begins with mysql/],
    ["dev", { DATABASE_URL: broken }, /DATABASE_URL must be a URL/],
  ];
  await eachOf(cases, async ([line, environment, message]) => {
    const run = await posthaste(directory, line.split(" "), environment);
    assert.match(run.stderr.replace(/^posthaste: /, "").trimEnd(), message, line);
    assert.doesNotMatch(run.stdout + run.stderr, /hunter2/);
    assert.equal(run.code, 2, line);
  });
  const check = await posthaste(directory, ["check", "--no-connect", "--database"], { DATABASE_URL: broken });
  assert.match(check.stdout, /^ERROR waiting mail: DATABASE_URL must be a URL/m);
  assert.doesNotMatch(check.stdout, /hunter2/);
});

test("without DATABASE_URL an operator's command takes the database that the configuration names", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": `export default { worker: { connectionString: "postgres://127.0.0.1:1/named" } };`,
  });
  const run = await posthaste(directory, ["status"]);
  assert.match(run.stderr, /^posthaste: Cannot connect to PostgreSQL at 127\.0\.0\.1:1\/named: /);
});

/** Two processes at a time. */
async function eachOf<T>(cases: readonly T[], check: (one: T) => Promise<void>): Promise<void> {
  const left = cases.values();
  const runner = async () => {
    for (const one of left) await check(one);
  };
  await Promise.all([runner(), runner()]);
}
