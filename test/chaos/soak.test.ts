import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "./soak-run.ts";

test("while everything goes wrong at once, no mail that was promised is lost, and every second copy is flagged", async (t) => {
  const found = await soak({
    duration: 45_000,
    rate: 30,
    calendar: { kill: [500, 1_500], stall: 9_000, terminate: 4_000, restart: 12_000 },
  });
  const { toll } = found;
  t.diagnostic(
    `${found.promised} mails, ${toll.kills} kills, ${toll.stalls} stalls, ${toll.stops} stops, ${toll.restarts} crashes of PostgreSQL, ${found.secondCopies} second copies, ${found.flagged} flagged`,
  );
  const { lost, missing, unflagged, unexplained, broken } = found;
  assert.deepEqual(
    { lost, missing, unflagged, unexplained, broken },
    { lost: 0, missing: 0, unflagged: 0, unexplained: 0, broken: {} },
    JSON.stringify({ ends: found.ends, ledger: found.ledger }),
  );
  assert.equal(toll.badStops, 0, "workers that are asked to stop exit with 0");
  assert.ok(found.promised > 0 && toll.kills > 0 && toll.restarts > 0);
});
