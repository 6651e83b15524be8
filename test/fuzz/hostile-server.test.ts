import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { wrongVerdicts } from "./codes.ts";
import { seedOf } from "./seed.ts";
import { fuzzServer } from "./server-side.ts";

test("a server that answers anything costs a worker neither its life nor its memory, and no mail its truth", async (t) => {
  const seed = seedOf(t);
  const { mails, answers, ends, grown, broken } = await fuzzServer(t, seed, 60);
  t.diagnostic(
    `${mails} mails; ${Object.entries(answers)
      .map((entry) => entry.join(": "))
      .join(", ")}`,
  );
  t.diagnostic(`${JSON.stringify(ends)}; the worker grew by ${grown} MiB at most`);
  assert.deepEqual(broken.slice(0, 2), []);
  // 20 floods at once; nodemailer alone would keep a megabyte or more of each, and of empty lines all of them.
  assert.ok(grown < 250, `${grown} MiB`);
});

test("each code from 000 to 999 means at each point what its class stands for", async (t) => {
  const seed = seedOf(t);
  const codes = fc.sample(fc.integer({ min: 0, max: 999 }), { seed, numRuns: 250 });
  const { sends, wrong } = await wrongVerdicts([...new Set([220, 250, 354, 421, 530, 552, ...codes])]);
  t.diagnostic(`${sends} sends`);
  assert.deepEqual(wrong, []);
});
