import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "./database.ts";

test("each test database is migrated, and of one's own", async (t) => {
  const [first, second] = await Promise.all([createTestDatabase(t), createTestDatabase(t)]);
  await first.query("create table public.mine ()");
  assert.deepEqual(await second.query("select to_regclass('public.mine') as mine"), [{ mine: null }]);
  assert.notEqual(
    (await second.query("select to_regclass('posthaste_private.migrations') as it"))[0].it,
    null,
  );
});

test("a session can become a role with settings, or log in as one of its own", async (t) => {
  const database = await createTestDatabase(t);
  const become = database.as("posthaste_viewer", { "posthaste.owner": "tenant 7\\" });
  const who =
    "select current_user as role, session_user as login, current_setting('posthaste.owner', true) as owner";
  const { rows } = await become.query(who);
  assert.deepEqual([rows[0].role, rows[0].owner], ["posthaste_viewer", "tenant 7\\"]);
  const { name, connectionString } = await database.login({ memberOf: "posthaste_viewer" });
  const client = new pg.Client({ connectionString });
  await client.connect();
  assert.equal((await client.query(who)).rows[0].login, name);
  await client.end();
});

test("closing a test database fails when the test has left a connection, and names it", async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({
    connectionString: database.connectionString,
    application_name: "forgotten",
  });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("select 'the last thing'");
  await assert.rejects(
    database.close(),
    /left connections to its database: forgotten, idle, last statement: select 'the last/,
  );
});
