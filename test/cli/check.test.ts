import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createTestDatabase } from "../database.ts";
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
    "emails/subjectless.tsx": "export default () => <p>x</p>;",
    "emails/throws.tsx": `export const subject = "x"; export default function T() { throw new Error("no\\nstock"); }`,
  });
  const run = await posthaste(directory, ["check", "--no-connect"]);
  const lines = run.stdout.trimEnd().split("\n");
  const expected = [
    /^ERROR configuration: posthaste\.lease must be a duration from 3s/,
    /^ERROR configuration: posthaste\.form is not an option; did you mean "from"\?$/,
    /^ERROR configuration: transports\.default\.url: has no option "requireTsl"/,
    /^ERROR template broken: .*broken\.tsx/,
    /^ERROR template subjectless: emails\/subjectless\.tsx: must export `subject`, .*; it exports no subject$/,
    /^ERROR template throws: .*throws\.tsx.*no stock$/,
    /^ok {4}template welcome: renders/,
  ];
  assert.equal(lines.length, expected.length, run.stdout);
  for (const [index, pattern] of expected.entries()) assert.match(lines[index] ?? "", pattern);
  assert.equal(run.code, 1);
});

test("a template whose top level loops or ends the process is named, and keeps nobody from the others", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": CONFIG,
    "emails/ends.tsx": `process.exit(0); ${WELCOME}`,
    "emails/loops.tsx": `for (;;); ${WELCOME}`,
    "emails/throws.tsx": `throw new Error("no stock"); ${WELCOME}`,
    "emails/welcome.tsx": WELCOME,
  });
  const check = await posthaste(directory, ["check", "--no-connect"]);
  assert.deepEqual(check.stdout.split("\n").slice(1), [
    "ERROR template ends: emails/ends.tsx: its top level ends the process",
    "ERROR template loops: emails/loops.tsx: its top level did not end within 10 s",
    "ERROR template throws: emails/throws.tsx:1:7: Error: no stock",
    'ok    template welcome: renders as "Welcome".',
    "",
  ]);
  assert.deepEqual([check.code, check.stderr], [1, ""]);
  rmSync(join(directory, "emails/loops.tsx"));
  const ends = await posthaste(directory, ["render", "ends"]);
  const said = "posthaste: render_failed: emails/ends.tsx: its top level ends the process\n";
  assert.deepEqual([ends.code, ends.stderr], [1, said]);
  const welcome = await posthaste(directory, ["render", "welcome", "--text"]);
  assert.deepEqual([welcome.code, welcome.stdout], [0, "Hello Ada\n"]);
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

test("check says what is wrong in which sample and locale, warns of what may be meant, and renders them all", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": CONFIG,
    "emails/order.tsx": `export const locales = ["en", "de"];
      export const subject = ({ number, locale }) => (locale === "de" ? "Bestellung " : "Order ") + number;
      export default function Order({ number, url }) { return <html><body><p>{String(number)}</p><a href={url}>x</a></body></html>; }
      Order.PreviewProps = { number: 1, url: "https://shop.example" };
      export const samples = { "no number": { url: "http://shop.example" } };`,
  });
  const run = await posthaste(directory, ["check", "--no-connect"]);
  const place = (where: string) => `template order: emails/order.tsx (sample no number, ${where})`;
  for (const line of [
    `ERROR ${place("en; and 1 more")}: the subject says "Order undefined". A parameter is missing`,
    `ERROR ${place("en; and 1 more")}: a link leads to "http://shop.example". Use an absolute https: URL`,
    `warn  template order: emails/order.tsx (sample default, en; and 3 more): the HTML names no language.`,
  ]) {
    assert.ok(run.stdout.includes(line), `${line}\nin\n${run.stdout}`);
  }
  assert.equal(
    run.stdout.match(/undefined/g)?.length,
    2,
    "in the subject and in the text part, each said once",
  );
  assert.equal(run.code, 1);
});

test("render prints subject and text, or one part, or the message, as the worker sends them", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": CONFIG,
    "emails/welcome.tsx": `${WELCOME}\nexport const locales = ["en", "de"];\nexport const samples = { other: { name: "Bo" } };`,
  });
  const render = (...args: string[]) => posthaste(directory, ["render", "welcome", ...args]);
  assert.equal((await render()).stdout, "Subject: Welcome\n\nHello Ada\n");
  assert.equal((await render("--sample", "other", "--text")).stdout, "Hello Bo\n");
  assert.match((await render("--html")).stdout, /^<!DOCTYPE html.*<p>Hello <!-- -->Ada<\/p>\n$/s);
  assert.match((await render("--eml")).stdout, /^Subject: Welcome\r$.*^Content-Type: text\/html/ms);
  const wrong = await render("--sample", "othr");
  assert.deepEqual(
    [wrong.code, wrong.stderr],
    [2, 'posthaste: emails/welcome.tsx has no sample "othr"; did you mean "other"?\n'],
  );
});

test("check and render repeat what a template throws over its own samples, secrets or not", async (t) => {
  const directory = folder(t, {
    "graphile.config.mjs": CONFIG,
    "emails/code.tsx": `import { z } from "zod";
      export const parameters = z.object({ code: z.string() });
      export const secrets = ["code"];
      export const subject = "Code";
      export default function Code({ code }) { return <p>{code.part.one}</p>; }
      Code.PreviewProps = { code: "1" };`,
  });
  const said = /emails\/code\.tsx:5:\d+: TypeError: Cannot read properties of undefined \(reading 'one'\)/;
  assert.match((await posthaste(directory, ["check", "--no-connect"])).stdout, said);
  assert.match((await posthaste(directory, ["render", "code"])).stderr, said);
});

test("check --database lists waiting mail that its template no longer takes, by id and without values", async (t) => {
  const database = await createTestDatabase(t);
  const directory = folder(t, {
    "graphile.config.mjs": CONFIG,
    "emails/welcome.tsx": `import { z } from "zod";\nexport const parameters = z.object({ name: z.string() });\n${WELCOME}`,
  });
  const environment = { DATABASE_URL: database.connectionString };
  const check = () => posthaste(directory, ["check", "--no-connect", "--database"], environment);
  const enqueue = async (template: string, parameters: object): Promise<string> =>
    (
      await database.query("select posthaste.enqueue($1, 'a@shop.example', $2) as id", [template, parameters])
    )[0].id;
  await enqueue("welcome", { name: "Ada" });
  const fine = await check();
  assert.match(fine.stdout, /^ok {4}waiting mail: .*: 1 of them fit their templates\.$/m);
  assert.equal(fine.code, 0);
  const misfit = await enqueue("welcome", { name: { secret: "value" } });
  const gone = await enqueue("gone", {});
  const run = await check();
  assert.match(
    run.stdout,
    new RegExp(`^ERROR waiting mail: parameters_invalid: welcome: name: .*the newest ${misfit}`, "m"),
  );
  assert.match(run.stdout, new RegExp(`^ERROR waiting mail: template_not_found: .*"gone".*${gone}`, "m"));
  assert.doesNotMatch(run.stdout, /secret|"value"/);
  assert.equal(run.code, 1);
});
