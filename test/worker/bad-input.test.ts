import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startScene } from "../faults/scene.ts";

const TEMPLATES = {
  "strict.tsx": `
    import { z } from "zod";
    export const parameters = z.object({ number: z.number(), name: z.string() });
    export const subject = "Strict";
    export default ({ number, name }) => <p>{name}: {number}</p>;`,
  "https-link.tsx": `
    import { z } from "zod";
    export const parameters = z.object({ url: z.url({ protocol: /^https$/ }) });
    export const subject = "L";
    export default ({ url }) => <a href={url}>Look</a>;`,
  "any-link.tsx": 'export const subject = "L"; export default ({ url }) => <a href={url}>Look</a>;',
  "passes-on.tsx": 'export const subject = "P"; export default ({ note }) => <p {...note} />;',
  "throws.tsx":
    'export const subject = "T"; export default function Mail() { throw new Error("broken on purpose"); }',
  "throws-text.tsx": 'export const subject = "T"; export default function Mail() { throw "only a text"; }',
  "rejects.tsx":
    'export const subject = "T"; export default async function Mail() { await null; throw new Error("broken later"); }',
  "no-subject.tsx": "export default () => <p>Nothing</p>;",
  "typo.tsx": "export default () => <p>unclosed;",
  "large.tsx": 'export const subject = "L"; export default () => <p>{"many words ".repeat(10_000)}</p>;',
};

/** What is enqueued, the code that it ends with, and what the operator is told. */
const CASES: readonly (readonly [string, Readonly<Record<string, unknown>>, string, RegExp])[] = [
  [
    "an unknown template",
    { template: "missing" },
    "template_not_found",
    /^This worker has no template "missing"\. It read \S+\/ at \d{4}-\S+Z and has: .*strict.*\. If the file is new, restart the worker, then retry\.$/,
  ],
  [
    "a sender with a character that does not exist",
    { from_address: "a\u{d68bb}@shop.example" },
    "recipient_invalid",
    /^from_address: not user@host/,
  ],
  ["a template that cannot be compiled", { template: "typo" }, "render_failed", /typo\.tsx/],
  [
    "a parameter that is missing",
    { template: "strict", parameters: { number: 1 } },
    "parameters_invalid",
    /name/,
  ],
  [
    "a parameter of the wrong type",
    { template: "strict", parameters: { number: "one", name: "Ada" } },
    "parameters_invalid",
    /number/,
  ],
  [
    "a link that runs something, where the schema takes https: only",
    { template: "https-link", parameters: { url: "javascript:alert(1)" } },
    "parameters_invalid",
    /^https-link: url: Invalid URL$/,
  ],
  [
    "a link that runs something, where no schema is in its way",
    { template: "any-link", parameters: { url: "javascript:alert(1)" } },
    "render_failed",
    /any-link\.tsx: a link has a scheme that runs or reads something/,
  ],
  [
    "a parameter that would be taken for raw HTML",
    { template: "passes-on", parameters: { note: { dangerouslySetInnerHTML: { __html: "<b>x</b>" } } } },
    "parameters_invalid",
    /^passes-on: note\.dangerouslySetInnerHTML: no parameter may have this name/,
  ],
  [
    "a template that throws",
    { template: "throws" },
    "render_failed",
    /throws\.tsx:1:\d+: Error: broken on purpose/,
  ],
  ["a template that throws a text", { template: "throws-text" }, "render_failed", /only a text/],
  ["a template whose promise rejects", { template: "rejects" }, "render_failed", /broken later/],
  ["a template without a subject", { template: "no-subject" }, "render_failed", /subject/],
  [
    "an attachment, while no store is configured",
    {
      attachments: JSON.stringify([
        { filename: "a.pdf", content_type: "application/pdf", storage_ref: "store:x/1" },
      ]),
    },
    "attachment_missing",
    /a\.pdf/,
  ],
  [
    "a message larger than the server takes",
    { template: "large" },
    "message_too_large",
    /the server takes 50000/,
  ],
  ["an address that is no address", { recipient: "nobody at all" }, "recipient_invalid", /recipients/],
  [
    "an address that needs SMTPUTF8",
    { recipient: "änne@customer.example" },
    "smtputf8_unsupported",
    /SMTPUTF8/,
  ],
];

test("what is wrong with a mail ends it at once with its code, and the mail beside it is sent", async (t) => {
  const scene = await startScene(t, { templates: TEMPLATES, smtp: { size: 50_000 } });
  const { log } = await scene.here();
  const broken = await log.line("template_broken", ({ template }) => template === "typo");
  assert.match(String(broken.place), /^\S+\/typo\.tsx:1:\d+$/);
  for (const [what, values, code, message] of CASES) {
    await t.test(what, async () => {
      const bad = await scene.enqueue({ parameters: {}, ...values });
      const good = await scene.enqueue({ recipient: "good@customer.example", parameters: { n: 1 } });
      const row = await scene.until(bad, "FAILED");
      assert.equal(row.error_code, code);
      assert.match(row.error_message, message);
      assert.ok(row.attempt_count <= 1, "it is not tried again");
      await scene.until(good, "SENT");
    });
  }
  assert.equal(scene.server.accepted.length, CASES.length);
  await scene.verify();
});

test("a mail whose transport is not configured here waits, costs no attempt, and the others go on", async (t) => {
  const scene = await startScene(t, { options: { retry: { delays: ["1h"] } } });
  await scene.here();
  const bad = await scene.enqueue({ transport: "elsewhere", parameters: { n: 1 } });
  const good = await scene.enqueue({ parameters: { n: 2 } });
  await scene.until(good, "SENT");
  const row = await scene.until(bad, "PENDING");
  assert.deepEqual(
    [row.error_code, row.attempt_count, row.deferral_count],
    ["transport_misconfigured", 0, 1],
  );
  assert.match(row.error_message, /"elsewhere"/);
  await scene.verify({ waiting: [bad] });
});

test("one address that needs SMTPUTF8 is refused, and the mail's other recipients get it", async (t) => {
  const scene = await startScene(t);
  await scene.here();
  const recipients = ["änne@customer.example", "ada@customer.example"];
  const id = await scene.enqueue({ recipient: null, recipients, parameters: { n: 1 } });
  const row = await scene.until(id, "SENT");
  assert.deepEqual(row.delivered_to, ["ada@customer.example"]);
  assert.deepEqual(Object.keys(row.refused), ["änne@customer.example"]);
  await scene.verify();
});

test("an unknown template waits while another live worker has published it, and fails when none has", async (t) => {
  const scene = await startScene(t, {
    templates: { "new.tsx": 'export const subject = "New"; export default () => <p>New</p>;' },
  });
  const older = await startScene(t, { database: scene.database });
  const { log, stop } = await older.here();
  const newer = await scene.process({ options: { concurrency: 1 } });
  // The newer one is busy; its colleague gets the mail, and gives it back.
  newer.kill("SIGSTOP");
  const id = await scene.enqueue({ template: "new" });
  const line = await log.line("email_retried", (each) => each.id === id);
  assert.equal(line.code, "template_not_found");
  newer.kill("SIGCONT");
  await scene.until(id, "SENT");
  assert.equal((await newer.log.line("email_sent")).code, null, "the cause of an attempt before");
  await newer.end();
  await stop();
  await scene.verify();
});

test("a worker that finds no template says so, with the folder", async (t) => {
  const scene = await startScene(t);
  const folder = await mkdtemp(join(tmpdir(), "posthaste-empty-"));
  t.after(() => rm(folder, { recursive: true }));
  const { log } = await scene.here({ options: { emails: folder } });
  const line = await log.line("templates_missing");
  assert.deepEqual([line.level, line.place], ["warn", folder]);
});
