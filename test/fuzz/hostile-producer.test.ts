import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzProducer } from "./producer-side.ts";
import { seedOf } from "./seed.ts";

test("whatever a producer writes is refused by name or comes to its end, and reaches nobody else", async (t) => {
  const { broken, ends, ...figures } = await fuzzProducer(t, seedOf(t), 400);
  t.diagnostic(
    `${figures.requests} mails, ${figures.fields} fields, ${figures.messages} messages, ${figures.foreignRecipients} foreign recipients, ${figures.bareLineEnds} bare CR or LF; slowest request ${figures.slowest} ms`,
  );
  t.diagnostic(JSON.stringify(ends));
  assert.deepEqual(broken.slice(0, 3), []);
  assert.deepEqual([figures.foreignRecipients, figures.bareLineEnds], [0, 0]);
  assert.ok(figures.messages > 30);
});
