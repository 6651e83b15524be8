import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { PosthasteError } from "../../src/errors.ts";
import { serveMetrics } from "../../src/metrics/server.ts";
import { createTestDatabase } from "../database.ts";
import { serve, tokenFor } from "../graphql/serving.ts";
import { readSeries } from "./series.ts";

suite("a worker's server of metrics", () => {
  const expose = async () => ({ contentType: "text/plain; version=0.0.4; charset=utf-8", body: "told 1\n" });

  test("answers GET and HEAD of /metrics on loopback, and nothing else", async (t) => {
    const server = await serveMetrics({ host: "127.0.0.1", port: 0 }, expose);
    t.after(() => server.close());
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    assert.equal(await (await fetch(`${server.url}?now`)).text(), "told 1\n");
    const head = await fetch(server.url, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text(), head.headers.get("content-length")], [200, "", "7"]);
    assert.equal((await fetch(new URL("/", server.url))).status, 404);
    const post = await fetch(server.url, { method: "POST", body: "x".repeat(100_000) }).catch(() => null);
    assert.ok(post === null || post.status === 405);
  });

  test("says what to do when its port is taken", async (t) => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    await assert.rejects(
      serveMetrics({ host: "127.0.0.1", port }, expose),
      (error) =>
        error instanceof PosthasteError && /EADDRINUSE.*each worker .* needs its own/.test(error.message),
    );
  });

  test("survives an answer that cannot be made", async (t) => {
    const server = await serveMetrics({ host: "127.0.0.1", port: 0 }, () => Promise.reject(new Error("no")));
    t.after(() => server.close());
    await assert.rejects(fetch(server.url));
    await assert.rejects(fetch(server.url));
  });
});

test("`serve` tells the database's figures to operators alone", async (t) => {
  const closers: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const close of closers.reverse()) await close();
  });
  const database = await createTestDatabase({ after: (close) => void closers.push(close) });
  const { server, stop } = await serve(database);
  closers.push(stop);
  await database.query("select posthaste.enqueue('welcome', 'jane@customer.example')");
  const ask = async (who: Parameters<typeof tokenFor>[0] | null) =>
    fetch(`${server.url}/metrics`, {
      headers: who === null ? {} : { authorization: `Bearer ${await tokenFor(who)}` },
    });
  assert.equal((await ask(null)).status, 401);
  assert.equal((await ask({ role: "viewer", owner: "7" })).status, 403);
  const told = await ask({});
  assert.equal(told.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const series = readSeries(await told.text());
  assert.equal(series.get("posthaste_database_up"), 1);
  assert.equal(series.get('posthaste_emails{status="PENDING"}'), 1);
  assert.equal(series.get("posthaste_live_workers"), 0);
  assert.equal(series.has("posthaste_sending"), false);
});
