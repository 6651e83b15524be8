import assert from "node:assert/strict";
import { test } from "node:test";
import { median } from "../bench/statistics.ts";
import { measureBacklog } from "./backlog.ts";

test("mail that waits behind an open breaker costs maintenance little, and goes out in growing numbers when it closes", async (t) => {
  const found = await measureBacklog({ waiting: 20_000, runs: 15, drain: 600 });
  t.diagnostic(
    `maintenance: median ${Math.round(median(found.open))} ms with ${found.waiting} mails waiting`,
  );
  assert.equal(found.jobs, 0, "no mail has a job while nothing can be sent");
  assert.ok(median(found.open) < 100, `${median(found.open)} ms`);
  const allowed = found.growth.map(({ allowance }) => allowance ?? Number.POSITIVE_INFINITY);
  assert.ok(allowed[0]! <= 40, `it begins with ${allowed[0]}`);
  assert.deepEqual(
    allowed,
    allowed.toSorted((a, b) => a - b),
  );
  assert.ok(found.sent >= 600);
});
