import assert from "node:assert/strict";
import { test } from "node:test";
import { createIsolation } from "../../src/templates/isolation.ts";
import { draw, folderOf, load, source } from "./folder.ts";

const REQUEST = { parameters: {}, locale: null, timeout: 5000 };

test("another process renders the same as this one: parameters, locale, and the variables that the template names", async (t) => {
  process.env.POSTHASTE_TEST_SHOP = "https://shop.example";
  process.env.POSTHASTE_TEST_SECRET = "secret";
  t.after(() => {
    delete process.env.POSTHASTE_TEST_SHOP;
    delete process.env.POSTHASTE_TEST_SECRET;
  });
  const template = await load(
    t,
    source(
      "return <p>{props.name} {props.locale} {process.env.POSTHASTE_TEST_SHOP} {Object.keys(process.env).filter((name) => name.endsWith('SECRET')).length}</p>;",
    ),
  );
  const here = await draw(template, { name: "Jane" }, "de-CH");
  const there = await createIsolation().render(template, {
    ...REQUEST,
    parameters: { name: "Jane" },
    locale: "de-CH",
  });
  assert.ok(here.ok && there?.ok);
  assert.equal(here.text, "Jane de-CH https://shop.example 1");
  assert.equal(there.text, "Jane de-CH https://shop.example 0");
  assert.equal(there.html, here.html.replace(">1</", ">0</").replace("1</p>", "0</p>"));
});

test("what fails says the same there as here", async (t) => {
  const template = await load(t, source('throw new Error("inside");'));
  assert.deepEqual(await createIsolation().render(template, REQUEST), await draw(template));
});

test("a template that puts too much into buffers is ended there", async (t) => {
  const template = await load(t, source("const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));"));
  const rendered = await createIsolation().render(template, { ...REQUEST, timeout: 30_000 });
  assert.deepEqual(rendered, {
    ok: false,
    code: "worker_crashed",
    message: "emails/mail.tsx: took more than 512 MB of memory in a process of its own",
    by: "template",
  });
});

test("mail that waits is rendered one at a time, and none answers for what another left behind", async (t) => {
  const folder = await folderOf(t, {
    "good.tsx": source("return <p>Good</p>;"),
    "late.tsx": source("setImmediate(() => process.exit(7)); return <p>Late</p>;"),
    "loop.tsx": source("while (true) {}"),
  });
  const catalog = await folder.load();
  const isolation = createIsolation();
  const names = ["good", "late", "good", "loop", "good", "good"];
  const rendering = names.map((name) => isolation.render(catalog.get(name)!, { ...REQUEST, timeout: 500 }));
  assert.equal(isolation.waiting, names.length);
  const rendered = await Promise.all(rendering);
  assert.deepEqual(
    rendered.map((mail) => (mail?.ok ? mail.text : mail?.code)).filter((_, index) => index !== 1),
    ["Good", "Good", "render_timeout", "Good", "Good"],
  );
  assert.equal(isolation.waiting, 0);
});

test("mail that is given up is rendered no more, while it is rendered or before", async (t) => {
  const template = await load(t, source("while (true) {}"));
  const isolation = createIsolation();
  const giveUp = new AbortController();
  const both = [1, 2].map(() => isolation.render(template, { ...REQUEST, timeout: 60_000 }, giveUp.signal));
  giveUp.abort();
  assert.deepEqual(await Promise.all(both), [null, null]);
});

test("a process that something else ends, as the system does for want of memory, may do better another time", async (t) => {
  const template = await load(t, source("process.kill(process.pid, 'SIGKILL'); while (true) {}"));
  assert.deepEqual(await createIsolation().render(template, REQUEST), {
    ok: false,
    code: "worker_crashed",
    message: "emails/mail.tsx: something else ended its process (SIGKILL)",
    by: "system",
  });
});
