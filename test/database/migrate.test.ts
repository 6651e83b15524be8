import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSchema, schemaError } from "../../src/database/check-schema.ts";
import { serverProblem } from "../../src/database/check-server.ts";
import { type MigrateOptions, migrate } from "../../src/database/migrate.ts";
import { PosthasteError } from "../../src/errors.ts";
import { version } from "../../src/package-root.ts";
import { createTestDatabase } from "../database.ts";
import { sqlFolder } from "./sql-folder.ts";

const TABLES =
  "create schema if not exists posthaste;\ncreate table posthaste.letters (id int primary key);\n";
const COUNT = `create or replace function posthaste.count_letters() returns bigint
language sql stable as $$ select count(*) from posthaste.letters $$;
`;
const TWICE = `create or replace function posthaste.a_twice() returns bigint
language sql stable as $$ select 2 * posthaste.count_letters() $$;
`;
const FILES = {
  "migrations/000001-letters.sql": TABLES,
  "functions/a_twice.sql": TWICE,
  "functions/count_letters.sql": COUNT,
};

/** An empty database, a folder of SQL files, and `migrate` on both. */
async function setUp(t: Parameters<typeof sqlFolder>[0], files: Record<string, string> = FILES) {
  const database = await createTestDatabase(t, { empty: true });
  const folder = await sqlFolder(t, files);
  const run = (options: Partial<MigrateOptions> = {}) =>
    migrate({ connectionString: database.connectionString, sqlDirectory: folder.path, ...options });
  const check = async () => {
    const client = await database.pool.connect();
    try {
      return await checkSchema(client, folder.path);
    } finally {
      client.release();
    }
  };
  return { database, folder, run, check };
}

function refusal(pattern: RegExp, exitCode = 1) {
  return (error: unknown) => {
    assert.ok(error instanceof PosthasteError, String(error));
    assert.match(error.message, pattern);
    assert.equal(error.exitCode, exitCode);
    return true;
  };
}

test("migrate installs Graphile Worker, the migrations and functions that call each other in any order", async (t) => {
  const { database, run, check } = await setUp(t);
  assert.deepEqual(await check(), { state: "missing" });
  const result = await run();
  assert.equal(result.graphileWorker.from, null);
  assert.ok(result.graphileWorker.to >= 19);
  assert.deepEqual(result.migrations, [{ id: 1, slug: "letters" }]);
  assert.equal(result.functions, true);
  assert.equal((await database.query("select posthaste.a_twice() as n"))[0].n, "0");
  assert.equal((await check()).state, "ok");
});

test("migrate that has nothing to do does nothing", async (t) => {
  const { database, run } = await setUp(t);
  const { graphileWorker } = await run();
  const before = await database.query("select * from posthaste_private.migrations order by id");
  const again = await run();
  assert.deepEqual(again.migrations, []);
  assert.equal(again.functions, false);
  assert.deepEqual(again.graphileWorker, { from: graphileWorker.to, to: graphileWorker.to });
  assert.deepEqual(await database.query("select * from posthaste_private.migrations order by id"), before);
});

test("the real schema installs, and the second migrate has nothing to do", async (t) => {
  const { connectionString } = await createTestDatabase(t, { empty: true });
  assert.ok((await migrate({ connectionString })).functions);
  const again = await migrate({ connectionString });
  assert.deepEqual([again.migrations, again.functions], [[], false]);
});

test("migrate applies only what is new", async (t) => {
  const { folder, run, check } = await setUp(t);
  await run();
  await folder.write({ "migrations/000002-stamps.sql": "create table posthaste.stamps ();" });
  assert.deepEqual(await check(), { state: "older", version, pending: ["000002-stamps.sql"] });
  assert.match(
    schemaError(await check())?.message ?? "",
    /lacks 000002-stamps\.sql: run `posthaste migrate`/,
  );
  const result = await run();
  assert.deepEqual(result.migrations, [{ id: 2, slug: "stamps" }]);
  assert.equal(result.functions, false);
});

test("all functions are applied again when the text of one has changed", async (t) => {
  const { database, folder, run, check } = await setUp(t);
  await run();
  await folder.write({ "functions/a_twice.sql": TWICE.replace("2 *", "7 + 2 *") });
  assert.deepEqual(await check(), { state: "older", version, pending: ["functions"] });
  const result = await run();
  assert.deepEqual([result.migrations, result.functions], [[], true]);
  assert.equal((await database.query("select posthaste.a_twice() as n"))[0].n, "7");
});

test("an applied migration that has changed is refused by its name, and other line ends are no change", async (t) => {
  const { folder, run } = await setUp(t);
  await run();
  await folder.write({ "migrations/000001-letters.sql": TABLES.replaceAll("\n", "\r\n") });
  assert.deepEqual((await run()).migrations, []);
  await folder.write({ "migrations/000001-letters.sql": `${TABLES}-- more` });
  await assert.rejects(run, refusal(/does not change, and 000001-letters\.sql is not the file/));
});

test("a migration that fails leaves nothing of itself, names file and line, and the next run goes on from there", async (t) => {
  const { database, folder, run } = await setUp(t);
  const broken = "create table posthaste.stamps ();\n\nselect * from posthaste.nowhere;\n";
  await folder.write({ "migrations/000002-stamps.sql": broken });
  await assert.rejects(
    run,
    refusal(/^sql\/migrations\/000002-stamps\.sql:3 failed.*"posthaste\.nowhere" does not exist.*42P01/),
  );
  const rows = await database.query(
    "select id, to_regclass('posthaste.stamps') as stamps from posthaste_private.migrations",
  );
  assert.deepEqual(rows, [{ id: 1, stamps: null }]);
  await folder.write({ "migrations/000002-stamps.sql": "create table posthaste.stamps ();" });
  assert.deepEqual((await run()).migrations, [{ id: 2, slug: "stamps" }]);
});

test("a function that fails leaves all functions as they were, and names its file", async (t) => {
  const { database, folder, run } = await setUp(t);
  await run();
  await folder.write({
    "functions/a_twice.sql": TWICE.replace("2 *", "7 + 2 *"),
    "functions/count_letters.sql": COUNT.replace("returns bigint", "returns int"),
  });
  await assert.rejects(run, refusal(/^sql\/functions\/count_letters\.sql failed.*return type/));
  assert.equal((await database.query("select posthaste.a_twice() as n"))[0].n, "0");
});

test("twenty at once: all succeed and one applies", async (t) => {
  const { run } = await setUp(t);
  const results = await Promise.all(Array.from({ length: 20 }, () => run()));
  assert.equal(results.filter(({ migrations }) => migrations.length === 1).length, 1);
  assert.equal(results.filter(({ functions }) => functions).length, 1);
  assert.equal(results.filter(({ graphileWorker }) => graphileWorker.from === null).length, 1);
});

test("a migration gives way to those who hold its table, and is done when they have finished", async (t) => {
  const { database, folder, run } = await setUp(t);
  await run();
  await folder.write({ "migrations/000002-name.sql": "alter table posthaste.letters add column name text;" });
  const reader = await database.pool.connect();
  await reader.query("begin; select * from posthaste.letters");
  const migrating = run({ lockTimeout: 50, lockAttempts: 200 });
  // Seen waiting once: then it has given way at least once when the count of its transactions goes up.
  const waiting = "select xact_start from pg_stat_activity where datname = $1 and wait_event = 'relation'";
  const starts = new Set<string>();
  while (starts.size < 2) {
    for (const row of await database.query(waiting, [database.name]))
      starts.add(String(row.xact_start.getTime()));
  }
  await reader.query("commit");
  reader.release();
  assert.deepEqual((await migrating).migrations, [{ id: 2, slug: "name" }]);
});

test("a migration that never gets its locks gives up, says so and leaves nothing", async (t) => {
  const { database, folder, run } = await setUp(t);
  await run();
  await folder.write({ "migrations/000002-name.sql": "alter table posthaste.letters add column name text;" });
  const reader = await database.pool.connect();
  await reader.query("begin; select * from posthaste.letters");
  await assert.rejects(
    run({ lockTimeout: 20, lockAttempts: 3 }),
    refusal(/000002-name\.sql did not get its locks in 3 tries of 20 ms.*pg_stat_activity/),
  );
  await reader.query("rollback");
  reader.release();
  const [{ n }] = await database.query(
    "select count(*)::int as n from posthaste_private.migrations where id = 2",
  );
  assert.equal(n, 0);
});

test("a database with a migration that this program does not know is refused with exit code 57", async (t) => {
  const { folder, run, check } = await setUp(t, { ...FILES, "migrations/000002-stamps.sql": "select 1;" });
  await run();
  await folder.write({ "migrations/000002-stamps.sql": null });
  await assert.rejects(run, refusal(/newer than this program/, 57));
  const state = await check();
  assert.equal(state.state, "newer");
  assert.equal(schemaError(state)?.exitCode, 57);
});

test("a database that a newer version has changed is refused with exit code 57 before anything is touched", async (t) => {
  const { database, folder, run, check } = await setUp(t);
  await run();
  await database.query("update posthaste_private.migrations set version = '99.10.0' where id = 0");
  await folder.write({ "functions/a_twice.sql": TWICE.replace("2 *", "3 *") });
  await assert.rejects(run, refusal(/changed by Posthaste 99\.10\.0, and this is /, 57));
  assert.deepEqual(await check(), { state: "newer", version: "99.10.0" });
  const [{ n }] = await database.query("select count(*)::int as n from pg_proc where prosrc like '%3 *%'");
  assert.equal(n, 0);
});

test("a newer Graphile Worker schema is refused with exit code 57, and the process keeps its own exit code", async (t) => {
  const { database, run } = await setUp(t);
  await run();
  await database.query("insert into graphile_worker.migrations (id, breaking) values (999999, true)");
  await assert.rejects(run, refusal(/Graphile Worker's schema in the database is newer/, 57));
  assert.equal(process.exitCode, undefined);
});

test("a server that is too old, of another encoding or a standby is refused by rule and value", () => {
  const fine = { version: 150_000, encoding: "UTF8", standby: false };
  assert.equal(serverProblem(fine), null);
  assert.match(
    serverProblem({ ...fine, version: 140_011 }) ?? "",
    /PostgreSQL 15 or later; this server is 14/,
  );
  assert.match(serverProblem({ ...fine, encoding: "LATIN1" }) ?? "", /UTF8; this one has LATIN1/);
  assert.match(serverProblem({ ...fine, standby: true }) ?? "", /standby/);
});

test("a database that is not UTF8 is left as it is", async (t) => {
  const { database, run } = await setUp(t);
  const name = `${database.name}_ascii`;
  await database.query(
    `create database ${name} template template0 encoding 'SQL_ASCII' locale 'C' locale_provider libc`,
  );
  const url = new URL(database.connectionString);
  url.pathname = `/${name}`;
  await assert.rejects(run({ connectionString: url.href }), refusal(/UTF8; this one has SQL_ASCII/));
  await database.query(`drop database ${name} with (force)`);
});

test("files that break the naming rules are refused by name", async (t) => {
  const { folder, run } = await setUp(t);
  await folder.write({ "migrations/2-stamps.sql": "select 1;" });
  await assert.rejects(run, refusal(/NNNNNN-slug\.sql.*2-stamps\.sql/));
  await folder.write({ "migrations/2-stamps.sql": null, "migrations/000001-twin.sql": "select 1;" });
  await assert.rejects(run, refusal(/000001-letters\.sql and 000001-twin\.sql share one/));
  await assert.rejects(run({ sqlDirectory: "/nowhere" }), refusal(/not in \/nowhere\/migrations/));
});
