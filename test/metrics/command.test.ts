import assert from "node:assert/strict";
import { test } from "node:test";
import { validateConfiguration } from "../../src/configuration/validate.ts";
import { openShop } from "../cli/shop.ts";
import { scrape } from "./series.ts";

test("worker --metrics-port tells metrics until it is stopped, and the option goes before the configuration", async (t) => {
  const shop = await openShop(t, { options: "metrics: { port: 1 }" });
  const worker = shop.start("worker", "--metrics-port", "0");
  await worker.said(/worker_started/);
  const url = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(worker.stderr)?.[0] ?? "";
  const series = await scrape(url);
  assert.equal(series.get("posthaste_live_workers"), 1);
  assert.equal(series.get("posthaste_connected"), 1);
  worker.child.kill("SIGTERM");
  assert.equal(await worker.ended, 0);
  await assert.rejects(fetch(url));
});

test("a worker whose metrics cannot be served does not start, and leaves nothing behind", async (t) => {
  const shop = await openShop(t);
  const first = shop.start("worker", "--metrics-port", "0");
  await first.said(/worker_started/);
  const port = /127\.0\.0\.1:(\d+)\/metrics/.exec(first.stderr)?.[1] ?? "";
  const second = await shop.run("worker", "--metrics-port", port);
  assert.equal(second.code, 1);
  assert.match(
    second.stderr,
    /Metrics cannot be served on 127\.0\.0\.1, port \d+: EADDRINUSE\. Choose another/,
  );
  first.child.kill("SIGTERM");
  assert.equal(await first.ended, 0);
});

test("without a port no metrics are served, and a host alone is a mistake", () => {
  const read = (metrics: unknown) =>
    validateConfiguration({ options: { metrics }, directory: "/", environment: {}, sends: false });
  assert.equal(read(undefined).config.metrics, null);
  assert.deepEqual(read({ port: 9464 }).config.metrics, { host: "127.0.0.1", port: 9464 });
  assert.match(read({ host: "0.0.0.0" }).problems.join(), /posthaste\.metrics\.port is missing/);
  assert.match(read({ port: 70_000 }).problems.join(), /posthaste\.metrics\.port must be a whole number/);
});
