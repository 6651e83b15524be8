import assert from "node:assert/strict";
import { test } from "node:test";
import { killAnyTime } from "./kill-any-time.ts";

test("busy workers that are killed one after the other lose no mail, and flag every second copy", async (t) => {
  const deaths = await killAnyTime(6);
  t.diagnostic(
    `${deaths.kills} kills with ${deaths.inFlight} mails in flight, ${deaths.handedOver} of them handed over: ${deaths.secondCopies} second copies, ${deaths.flagged} flagged`,
  );
  assert.deepEqual([deaths.lost, deaths.unflagged, deaths.broken], [0, 0, {}]);
  assert.ok(deaths.secondCopies <= deaths.flagged);
});
