import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { checkedDatabaseUrl, describeDatabase, requireDatabaseUrl } from "../../src/database/database-url.ts";
import { connect, createPool } from "../../src/database/pool.ts";
import { createTestDatabase } from "../database.ts";

const applicationName = "test";

test("without DATABASE_URL the error says what to set", () => {
  assert.throws(() => requireDatabaseUrl(""), { exitCode: 2, message: /There is no DATABASE_URL: set it/ });
  assert.equal(requireDatabaseUrl("postgres:///shop"), "postgres:///shop");
});

test("a URL that the driver cannot use is refused with the rule and without its secrets", () => {
  for (const url of [
    "postgres://h.example:99999/shop",
    "postgres://h.example:abc/shop",
    "postgres://:5432/shop",
    "postgres://shop:hunter2@:5432/shop",
    "postgres://shop:hunter2%FF@h.example/shop",
    "postgres://shop:hun#ter2@h.example/shop",
    "postgres://shop:hun/ter2@h.example/shop",
    "postgres://shop:hunter2@h example/shop",
    "postgres://shop:hunter2@h.example/shop?port=hunter2",
    "postgres://shop:hunter2@h.example:0/shop",
  ]) {
    assert.throws(
      () => checkedDatabaseUrl(url, "SOME_URL"),
      (error: Error & { exitCode?: number }) => {
        assert.match(error.message, /^SOME_URL must be a URL such as .*; received "postgres:\/\/[^"]*"\.$/);
        assert.doesNotMatch(error.message, /hun|ter2/);
        return error.exitCode === 2;
      },
      url,
    );
  }
  assert.throws(() => checkedDatabaseUrl("postgres://h/shop?sslrootcert=/no/such.pem", "SOME_URL"), {
    exitCode: 2,
    message: /^SOME_URL names a file that cannot be read: .*\/no\/such\.pem/,
  });
  for (const url of [
    "postgres:///shop",
    "postgresql://shop@/shop",
    "postgres://shop:p%20w@h.example/shop?host=/run/postgresql",
    "postgres://[::1]:5433/shop?sslmode=disable",
    "socket:/run/postgresql?db=shop",
    "/run/postgresql shop",
  ])
    assert.equal(checkedDatabaseUrl(url, "SOME_URL"), url);
});

test("a connection that fails says where and why, and keeps the password to itself", async (t) => {
  const { connectionString } = await createTestDatabase(t, { empty: true });
  const change = (part: "password" | "pathname" | "port" | "hostname", value: string) => {
    const url = new URL(connectionString);
    if (part !== "password") url.password = "secret";
    url[part] = value;
    return url.href;
  };
  const cases: [string, RegExp][] = [
    [change("password", "secret"), /password authentication failed.*Are user and password/],
    [change("port", "1"), /127\.0\.0\.1:1\/.*ECONNREFUSED.*Is the server running/],
    [change("hostname", "nowhere.invalid"), /nowhere\.invalid.*(host|name)/],
  ];
  for (const [url, message] of cases) {
    await assert.rejects(connect({ connectionString: url, applicationName }), (error: Error) => {
      assert.equal(error.name, "PosthasteError");
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
  const url = new URL(connectionString);
  url.pathname = "/no_such_database";
  await assert.rejects(connect({ connectionString: url.href, applicationName }), {
    message: /"no_such_database" does not exist.*Create the database/,
  });
});

test("what is printed of a connection string is host, port and database", () => {
  assert.equal(
    describeDatabase("postgres://user:secret@db.example:6432/shop?sslmode=require"),
    "db.example:6432/shop",
  );
  assert.equal(describeDatabase("postgres:///shop?host=/run/postgresql"), "/run/postgresql:5432/shop");
  assert.equal(describeDatabase("not a url: secret"), "the given URL");
});

test("a pool outlives its connections, idle and checked out", async (t) => {
  const database = await createTestDatabase(t, { empty: true });
  const errors: string[] = [];
  const pool = createPool({
    connectionString: database.connectionString,
    applicationName: "test victim",
    onError: (error) => errors.push(error.message),
  });
  const idle = await pool.connect();
  const busy = await pool.connect();
  const ended = new Promise((resolve) => busy.once("end", resolve));
  idle.release();
  const lost = once(pool, "error");
  await database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test victim' and datname = current_database()",
  );
  await Promise.all([lost, ended]);
  busy.release(true);
  assert.equal((await pool.query("select 1 as n")).rows[0].n, 1);
  assert.ok(errors.length >= 1);
  await pool.end();
});

test("a statement of a pool with a lock timeout gives up", async (t) => {
  const database = await createTestDatabase(t, { empty: true });
  const { connectionString } = database;
  const pool = createPool({ connectionString, applicationName, lockTimeout: 10 });
  const holder = await database.pool.connect();
  await holder.query("select pg_advisory_lock(1)");
  await assert.rejects(pool.query("select pg_advisory_lock(1)"), { code: "55P03" });
  holder.release(true);
  await pool.end();
});
