import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Direction, Fault } from "../faults/proxy.ts";
import { type Scene, startScene } from "../faults/scene.ts";

const DIRECTIONS: readonly Direction[] = ["toServer", "toClient"];

/** What the ledger is to say of mail that has two copies, and how many such mails there are. */
async function secondCopies(scene: Scene): Promise<string[]> {
  const copies = new Map<string, number>();
  for (const { messageId } of scene.server.accepted) copies.set(messageId, (copies.get(messageId) ?? 0) + 1);
  const rows = await scene.database.query(
    "select id || ' ' || recipients[1] as pair from posthaste.email_messages where message_id = any ($1) order by 1",
    [[...copies].filter(([, count]) => count > 1).map(([id]) => id)],
  );
  return rows.map(({ pair }) => pair).sort();
}

test("wherever an SMTP connection breaks, no mail is lost, and a second copy is possible at the reply to the dot alone", async (t) => {
  const scene = await startScene(t);
  const proxy = await scene.proxyTo(scene.server.url);
  // More than the lines of a session in each direction, so that the last faults never strike.
  const faults = (["fin", "reset", "silence"] as const).flatMap((kind) =>
    DIRECTIONS.flatMap((direction) =>
      Array.from(
        { length: direction === "toServer" ? 42 : 10 },
        (_, after): Fault => ({ kind, direction, after }),
      ),
    ),
  );
  proxy.faultOf = (number) => faults[number - 1] ?? null;
  await scene.here({
    pollInterval: 100,
    options: {
      // Each mail has a connection to itself, and each connection its fault.
      transports: { default: { url: `${proxy.at(scene.server.url)}?maxMessages=1`, connections: 20 } },
      timeouts: { command: "700ms", greeting: "700ms", finalReply: "700ms" },
      breaker: { failures: 1000 },
    },
  });
  const ids = await scene.enqueueMany(faults.length);
  await scene.drained(40_000);
  const sent = await scene.database.query("select from posthaste.email_messages where status = 'SENT'");
  assert.equal(sent.length, ids.length);
  const struck = proxy.connections.filter(({ struck }) => struck).length;
  const duplicated = await secondCopies(scene);
  t.diagnostic(
    `${faults.length} cut points, ${struck} struck, ${duplicated.length} second copies, all flagged`,
  );
  assert.ok(struck > 100);
  // One line is ambiguous: the reply to the dot, lost in three ways.
  assert.equal(duplicated.length, 3);
  await scene.verify({ duplicated });
});

// A mail is a few messages on each of some connections: its fetch, claim, hand-over, outcome, and the end of its job.
const CUTS = [
  [0, 1, 2, 3],
  [4, 5, 6, 7],
];

describe("wherever a connection to the database breaks, no mail is lost or sent twice", {
  concurrency: 4,
}, () => {
  for (const [direction, cuts] of DIRECTIONS.flatMap((each) => CUTS.map((cuts) => [each, cuts] as const))) {
    test(`after ${cuts} messages on the way ${direction === "toServer" ? "to" : "from"} the server`, async (t) => {
      const scene = await startScene(t);
      const proxy = await scene.proxyTo(scene.database.connectionString);
      await scene.process({ connectionString: proxy.at(scene.database.connectionString) });
      for (const after of cuts) {
        for (const connection of proxy.connections) {
          connection.fault = { direction, kind: "reset", after: connection.passed[direction] + after };
        }
        await scene.until(await scene.enqueue({ parameters: { n: after } }), "SENT", 20_000);
        for (const connection of proxy.connections) connection.fault = null;
      }
      t.diagnostic(
        `${proxy.connections.filter(({ struck }) => struck).length} connections were cut under ${cuts.length} mails`,
      );
      assert.deepEqual(await secondCopies(scene), [], "the process lives, and knows what the server took");
      await scene.verify();
    });
  }
});
