import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import type { FaultyProxy } from "../faults/proxy.ts";
import { type Scene, startScene } from "../faults/scene.ts";

const SILENCES: Readonly<Record<string, (proxy: FaultyProxy) => void>> = {
  "in both directions": (proxy) => proxy.strike("silence"),
  "from the worker": (proxy) => proxy.strike("mute", "toServer"),
  "from the database": (proxy) => proxy.strike("mute", "toClient"),
};

/** A worker process whose connections to the database go through a proxy. */
async function proxied(scene: Scene) {
  const proxy = await scene.proxyTo(scene.database.connectionString);
  const worker = await scene.process({ connectionString: proxy.at(scene.database.connectionString) });
  return { proxy, worker };
}

describe("when all connections to the database fall silent without an end", { concurrency: 3 }, () => {
  test("a worker that was idle notices, makes new ones, and sends", async (t) => {
    const scene = await startScene(t);
    const { proxy } = await proxied(scene);
    await scene.until(await scene.enqueue({ parameters: { n: 1 } }), "SENT");
    proxy.strike("silence");
    const began = performance.now();
    const id = await scene.enqueue({ parameters: { n: 2 } });
    await scene.until(id, "SENT", 40_000);
    t.diagnostic(`the next mail was sent after ${Math.round(performance.now() - began)} ms`);
    await scene.verify();
  });

  test("a job that a worker has locked without hearing of it does not keep its mail waiting", async (t) => {
    const scene = await startScene(t);
    await scene.database.query("select posthaste.pause('default', 'a test')");
    await scene.process();
    const id = await scene.enqueue({ parameters: { n: 1 } });
    // As if the worker had fetched it and the answer was lost, a minute ago.
    const pool = await eventually("the worker tells its pool", async () => {
      const [row] = await scene.database.query(
        "select pool_id from posthaste_private.workers where pool_id is not null",
      );
      return row?.pool_id as string | undefined;
    });
    const hidden = await scene.database.pool.connect();
    await hidden.query("begin");
    await hidden.query("select posthaste.resume('default')");
    await hidden.query("select posthaste_private.add_jobs(array[$1::uuid])", [id]);
    await hidden.query(
      "update graphile_worker._private_jobs set locked_by = $1, locked_at = now() - interval '61 seconds' where key = $2",
      [pool, `posthaste:${id}`],
    );
    await hidden.query("commit");
    hidden.release();
    await scene.until(id, "SENT");
    await scene.verify();
  });

  for (const [how, strike] of Object.entries(SILENCES)) {
    test(`mail that was under way is not lost, and every second copy is flagged (${how})`, async (t) => {
      const scene = await startScene(t);
      const { proxy } = await proxied(scene);
      const ids = await scene.enqueueMany(100);
      await scene.server.messages(20);
      strike(proxy);
      await scene.drained(40_000);
      assert.ok(scene.server.accepted.length >= ids.length);
      const copies = new Map<string, number>();
      for (const { messageId } of scene.server.accepted)
        copies.set(messageId, (copies.get(messageId) ?? 0) + 1);
      const twice = await scene.database.query(
        "select id || ' ' || recipients[1] as pair from posthaste.email_messages where message_id = any ($1) order by 1",
        [[...copies].filter(([, count]) => count > 1).map(([id]) => id)],
      );
      await scene.verify({ duplicated: twice.map(({ pair }) => pair) });
    });
  }
});
