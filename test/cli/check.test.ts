import assert from "node:assert/strict";
import { test } from "node:test";
import { folder, posthaste } from "./posthaste.ts";

const CONFIG = `export default { posthaste: { from: "Shop <no-reply@shop.example>", transports: { default: { url: "smtp://127.0.0.1:1" } } } };`;
const WELCOME = `export const subject = "Welcome";
export default function Welcome({ name }) { return <p>Hello {name}</p>; }
Welcome.PreviewProps = { name: "Ada" };`;

test("check says ok for each part that is in order", async (t) => {
  const directory = folder(t, { "graphile.config.mjs": CONFIG, "emails/welcome.tsx": WELCOME });
  const run = await posthaste(directory, ["check", "--no-connect"]);
  assert.match(
    run.stdout,
    /^ok {4}configuration: .*graphile\.config\.mjs\nok {4}template welcome: renders as "Welcome"\.\n$/,
  );
  assert.deepEqual([run.code, run.stderr], [0, ""]);
});

test("check reports everything that is wrong, each on a line of its own, exit code 1", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": CONFIG.replace("from:", 'lease: "1s", form:').replace(
      "1:1",
      "1:1?requireTsl=true",
    ),
    "emails/welcome.tsx": WELCOME,
    "emails/broken.tsx": "export default (",
    "emails/throws.tsx": `export const subject = "x"; export default function T() { throw new Error("no\\nstock"); }`,
  });
  const run = await posthaste(directory, ["check", "--no-connect"]);
  const lines = run.stdout.trimEnd().split("\n");
  const expected = [
    /^ERROR configuration: posthaste\.lease must be a duration from 3s/,
    /^ERROR configuration: posthaste\.form is not an option; did you mean "from"\?$/,
    /^ERROR configuration: transports\.default\.url: has no option "requireTsl"/,
    /^ERROR template broken: .*broken\.tsx/,
    /^ERROR template throws: .*throws\.tsx.*no stock/,
    /^ok {4}template welcome: renders/,
  ];
  assert.equal(lines.length, expected.length, run.stdout);
  for (const [index, pattern] of expected.entries()) assert.match(lines[index] ?? "", pattern);
  assert.equal(run.code, 1);
});

test("check --json prints one document and nothing else", async (t) => {
  const directory = folder(t, { "graphile.config.mjs": CONFIG, "emails/broken.tsx": "export default (" });
  const run = await posthaste(directory, ["check", "--no-connect", "--json"]);
  const { ok, findings } = JSON.parse(run.stdout);
  assert.equal(ok, false);
  assert.deepEqual(
    findings.map((finding: { subject: string; ok: boolean }) => [finding.subject, finding.ok]),
    [
      ["configuration", true],
      ["template broken", false],
    ],
  );
  assert.deepEqual([run.code, run.stderr], [1, ""]);
});
