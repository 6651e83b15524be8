import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { startSmtpServer } from "../smtp-server.ts";
import { folder, posthaste } from "./posthaste.ts";

const FILES = {
  "graphile.config.mjs": 'export default { posthaste: { from: "Shop <no-reply@shop.example>" } };',
  "emails/welcome.tsx":
    'export const subject = "Welcome"; export default function Welcome() { return <p>Hello</p>; }',
};

test("migrate says what it did, and that there is nothing to do the second time", async (t) => {
  const { connectionString } = await createTestDatabase(t, { empty: true });
  const directory = folder(t, {});
  const environment = { DATABASE_URL: connectionString };
  const first = await posthaste(directory, ["migrate", "--json"], environment);
  assert.deepEqual([first.code, first.stderr], [0, ""]);
  const result = JSON.parse(first.stdout);
  assert.equal(result.graphileWorker.from, null);
  assert.deepEqual(result.migrations.map(({ id }: { id: number }) => id).slice(0, 2), [1, 2]);
  assert.equal(result.functions, true);
  const second = await posthaste(directory, ["migrate"], environment);
  assert.match(second.stdout, /^The schema is that of Posthaste \d+\.\d+\.\d+ already\.\n$/);
});

test("migrate --sql prints SQL and needs no database", async (t) => {
  const run = await posthaste(folder(t, {}), ["migrate", "--sql", "--no-roles"]);
  assert.deepEqual([run.code, run.stderr], [0, ""]);
  assert.match(run.stdout, /create table posthaste\.email_messages/);
  assert.doesNotMatch(run.stdout, /create role/);
});

test("check connects to the database and to each mail server as for a send", async (t) => {
  const { connectionString } = await createTestDatabase(t);
  const smtp = await startSmtpServer();
  t.after(() => smtp.close());
  const environment = { DATABASE_URL: connectionString, SMTP_URL: smtp.url };
  const run = await posthaste(folder(t, FILES), ["check"], environment);
  assert.match(run.stdout, /\nok {4}database: .*\nok {4}transport default: /);
  assert.deepEqual([run.code, run.stderr], [0, ""]);
  assert.equal(smtp.accepted.length, 0);
});

test("check says what to do about a database without the schema and a mail server that is not there", async (t) => {
  const { connectionString } = await createTestDatabase(t, { empty: true });
  const smtp = await startSmtpServer();
  await smtp.close();
  const environment = { DATABASE_URL: connectionString, SMTP_URL: smtp.url };
  const run = await posthaste(folder(t, FILES), ["check"], environment);
  assert.match(
    run.stdout,
    /\nERROR database: .*run `posthaste migrate`.*\nERROR transport default: connect: ECONNREFUSED 127\.0\.0\.1:\d+\. Are host and port right/,
  );
  assert.equal(run.code, 1);
});

test("check without a sender, a mail server and a database names all three", async (t) => {
  const directory = folder(t, { "emails/welcome.tsx": FILES["emails/welcome.tsx"] });
  const run = await posthaste(directory, ["check"]);
  for (const name of ["POSTHASTE_FROM", "SMTP_URL", "DATABASE_URL"])
    assert.match(run.stdout, new RegExp(name));
  assert.equal(run.code, 1);
});

test("a database that cannot be reached is one sentence without the password, exit code 1", async (t) => {
  const url = "postgres://shop:hunter2@127.0.0.1:1/shop";
  const run = await posthaste(folder(t, {}), ["migrate"], { DATABASE_URL: url });
  assert.match(run.stderr, /^posthaste: Cannot connect to PostgreSQL at 127\.0\.0\.1:1\/shop: .*\n$/);
  assert.doesNotMatch(run.stderr, /hunter2/);
  assert.equal(run.code, 1);
});

test("check says what a worker says about a database of another environment, and only warns of that of posthaste dev", async (t) => {
  const database = await createTestDatabase(t);
  const environment = { DATABASE_URL: database.connectionString, SMTP_URL: "smtp://127.0.0.1:1" };
  const check = async (found: string) => {
    await database.query("select posthaste.configure('environment', to_jsonb($1::text))", [found]);
    return (await posthaste(folder(t, FILES), ["check"], environment)).stdout;
  };
  assert.match(
    await check("staging"),
    /\nERROR database: environment_mismatch: the database is "staging" and the configuration "production".* posthaste configure environment production\n/,
  );
  assert.match(
    await check("development"),
    /\nwarn {2}database: environment_mismatch: .* If it is the database of `posthaste dev`, that sends what is in it/,
  );
});
