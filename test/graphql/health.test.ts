import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { migrate } from "../../src/database/migrate.ts";
import { createPool } from "../../src/database/pool.ts";
import { makeNextVersion } from "../chaos/next-version.ts";
import { createTestDatabase, startServer, type TestDatabase } from "../database.ts";
import { serve, tokenFor } from "./serving.ts";

/** Asks until the answer is this one: it stands for a second. */
async function until(url: string, status: number): Promise<{ ready: boolean; reason?: string }> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const body = await answer.json();
    if (answer.status === status) return body;
    assert.ok(performance.now() < deadline, `readyz is ${answer.status}`);
    await delay(50);
  }
}

test("readyz turns red when the database is gone, and green again by itself; livez stays green", async () => {
  const server = await startServer();
  try {
    const { connectionString } = server;
    await migrate({ connectionString });
    const pool = createPool({ connectionString, applicationName: "test" });
    const login = new URL(connectionString);
    login.username = "http";
    login.password = "test";
    await pool.query("create role http login noinherit password 'test'; grant posthaste_operator to http");
    await pool.end();
    const database = {
      login: async () => ({ name: "http", connectionString: login.href }),
      query: async () => [],
    };
    const { server: http, ask, stop } = await serve(database as unknown as TestDatabase);
    try {
      assert.deepEqual(await until(http.url, 200), { ready: true });
      await server.stop("immediate");
      assert.deepEqual(await until(http.url, 503), { ready: false, reason: "database" });
      assert.equal((await fetch(`${http.url}/livez`)).status, 200);
      for (const query of [
        "{ emails { nodes { id } } }",
        "{ transports { name } queueStats { due } }",
        'mutation { pauseTransport(name: "default") { refusal { reason } } }',
      ]) {
        const answer = await fetch(`${http.url}/graphql`, {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${await tokenFor()}` },
          body: JSON.stringify({ query }),
        });
        const text = await answer.text();
        assert.equal(answer.status, 503, text);
        const { errors } = JSON.parse(text);
        assert.ok(errors.length > 0);
        for (const { message, extensions } of errors) {
          assert.equal(message, "The database cannot be reached at the moment.");
          assert.equal(extensions.code, "UNAVAILABLE");
        }
        assert.doesNotMatch(text, /127\.0\.0\.1|ECONN|postgres|password/);
      }
      await server.start();
      assert.deepEqual(await until(http.url, 200), { ready: true });
      assert.deepEqual((await ask("{ emails { nodes { id } } }")).data, { emails: { nodes: [] } });
    } finally {
      await stop();
    }
  } finally {
    await server.close();
  }
});

test("readyz turns red when the schema lacks something, and green again", async (t) => {
  const database = await createTestDatabase(t);
  const { server, stop } = await serve(database);
  try {
    await until(server.url, 200);
    const [row] = await database.query(
      "delete from posthaste_private.migrations where id = 1 returning slug, hash, version",
    );
    assert.deepEqual(await until(server.url, 503), { ready: false, reason: "schema" });
    await database.query(
      "insert into posthaste_private.migrations (id, slug, hash, version) values (1, $1, $2, $3)",
      [row.slug, row.hash, row.version],
    );
    await until(server.url, 200);
  } finally {
    await stop();
  }
});

test("a server that runs stays ready and answers when a newer version migrates: its replacement is yet to come", async (t) => {
  const next = await makeNextVersion(t);
  const database = await createTestDatabase(t);
  const { server, ask, stop } = await serve(database);
  try {
    await until(server.url, 200);
    const { migrations } = await migrate({
      connectionString: database.connectionString,
      sqlDirectory: join(next.root, "sql"),
    });
    assert.ok(migrations.length > 0);
    // Longer than an answer stands.
    await delay(1_100);
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
    assert.deepEqual((await ask("{ emails { nodes { id } } }")).data, { emails: { nodes: [] } });
  } finally {
    await stop();
  }
  await assert.rejects(serve(database), /newer than this program/);
});

test("health needs no token, and no other path is there", async (t) => {
  const database = await createTestDatabase(t);
  const { server, stop } = await serve(database, { graphiql: true });
  try {
    assert.equal((await fetch(`${server.url}/readyz`, { method: "HEAD" })).status, 200);
    assert.equal((await fetch(`${server.url}/readyz`, { method: "POST" })).status, 405);
    assert.equal((await fetch(`${server.url}/`)).status, 404);
    const graphiql = await fetch(`${server.url}/graphiql`);
    assert.equal(graphiql.status, 200);
    const page = await graphiql.text();
    assert.doesNotMatch(page, /(src|href)="https?:/, "nothing is loaded from elsewhere");
    const [, script] = /href="(\/ruru-static\/[^"]+\.js)"/.exec(page) ?? [];
    assert.equal((await fetch(`${server.url}${script}`)).status, 200);
  } finally {
    await stop();
  }
});
