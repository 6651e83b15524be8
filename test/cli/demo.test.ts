import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { demoTemplates } from "../../src/cli/demo/template.ts";
import { loadTemplates } from "../../src/templates/load.ts";
import { renderTemplate } from "../../src/templates/render.ts";
import { folder, posthaste } from "./posthaste.ts";
import { processesWith, start, temporaryFolder } from "./running.ts";

const LIMIT = { timeout: 40_000 };

function assertNothingIsLeft(directory: string): void {
  assert.deepEqual(readdirSync(directory), []);
  assert.deepEqual(processesWith(directory), []);
}

test(
  "demo shows the way from the order to the mail, step by step, and leaves nothing behind",
  LIMIT,
  async (t) => {
    const TMPDIR = temporaryFolder(t);
    const elsewhere = { TMPDIR, DATABASE_URL: "postgres://127.0.0.1:1/mine", SMTP_URL: "smtp://127.0.0.1:1" };
    const run = await posthaste(folder(t, {}), ["demo"], elsewhere);
    assert.deepEqual([run.code, run.stderr], [0, ""], run.stdout);
    const steps = [
      /DATABASE_URL is set\. The demo does not use it/,
      /-> PostgreSQL is started \(\d+ ms\)/,
      /-> posthaste migrate: .*\(\d+ ms\)/,
      /-> posthaste worker: .*\(\d+ ms\)/,
      /\| create table orders/,
      /\| create trigger confirm_order .* posthaste\.enqueue_row\(/,
      /\| begin;\n {2}\| insert into orders values \(1, .*amara@customer\.example/,
      /-> 1 row\n {2}\| commit;\n/,
      /-> PENDING +0 ms .*\n.*-> SENDING +\d+ ms .*\n.*-> SENT +\d+ ms /,
      /\| insert into orders values \(2, /,
      /-> PENDING +0 ms .*\n.*-> SENDING +\d+ ms .*\n.*-> SENT +\d+ ms /,
      /Rendered from emails\/order-confirmed\.tsx .*npx posthaste dev/,
      /\| MAIL FROM:<no-reply@shop\.example>\n {2}\| RCPT TO:<amara@customer\.example>\n/,
      /\| From: Posthaste Demo <no-reply@shop\.example>\n/,
      /\| Subject: Order HR-20418 is confirmed\n/,
      /\| Message-ID: <([0-9a-f-]{36})@shop\.example>\n {2}\| X-Posthaste-ID: \1\n/,
      /Text part\n/,
      /We have your order HR-20418/,
      /Fountain pen/,
      /HTML part: \d,\d{3} bytes/,
      /\| begin;\n {2}\| insert into orders values \(3, /,
      /-> order-confirmed +PENDING/,
      /\| rollback;\n {2}\| select .*order:3.*\n {2}\| -> no rows/,
      /\| insert into orders values \(4, .*dmitri@customer,example/,
      /-> HR-20421/,
      /-> order-confirmed +FAILED +recipient_invalid/,
      /Operators also see why: recipients: the domain contains a character/,
      /exactly 2 mails were received/,
    ];
    let rest = run.stdout;
    for (const step of steps) {
      const found = step.exec(rest);
      assert.ok(found, `${step} is not in:\n${rest}`);
      rest = rest.slice(found.index + found[0].length);
    }
    assert.ok(!run.stdout.includes("\u001b"), "no colour where it is no terminal");
    assertNothingIsLeft(TMPDIR);
  },
);

test("demo without its mail server says which packages to install, exit code 1", LIMIT, async (t) => {
  const TMPDIR = temporaryFolder(t);
  const hidden = `import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (name !== "smtp-server") return next(name, context);
      throw Object.assign(new Error("not there"), { code: "ERR_MODULE_NOT_FOUND" });
    } });`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hidden)}`;
  const run = await posthaste(folder(t, {}), ["demo"], { TMPDIR, NODE_OPTIONS });
  assert.match(
    run.stderr,
    /^posthaste: .*smtp-server and mailparser.*Run `npm install --save-dev [^`]+`\.\n$/,
  );
  assert.equal(run.code, 1);
  assertNothingIsLeft(TMPDIR);
});

test("demo can be interrupted and leaves nothing behind, exit code 1", LIMIT, async (t) => {
  const TMPDIR = temporaryFolder(t);
  const demo = start(t, folder(t, {}), ["demo"], { TMPDIR });
  await demo.said(/PostgreSQL is started/);
  demo.child.kill("SIGINT");
  assert.equal(await demo.ended, 1);
  assert.match(demo.output, /\nposthaste: The demo was interrupted\./);
  assertNothingIsLeft(TMPDIR);
});

test("the demo has a template of its own where the repository's are not installed", async (t) => {
  const scratch = folder(t, {});
  const templates = await demoTemplates(join(scratch, "package"), scratch);
  assert.ok(existsSync(join(templates.folder, templates.file)));
  const catalog = await loadTemplates(templates.folder);
  t.after(() => catalog.close());
  const template = catalog.get("order-confirmed");
  assert.ok(template);
  const order = { number: "1", customer_name: "Ada", items: [{ name: "Pen", quantity: 2 }], total: 4 };
  const rendered = await renderTemplate(template, order, { locale: null, timeout: 5000 });
  assert.ok(rendered.ok);
  assert.equal(rendered.subject, "Order 1 is confirmed");
  assert.match(rendered.text, /Thank you, Ada\..*2 × Pen/is);
});
