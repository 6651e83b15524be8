import assert from "node:assert/strict";
import { test } from "node:test";
import { renderTemplate } from "../../src/templates/render.ts";
import { draw, folderOf, load, messageOf, source } from "./folder.ts";

const ZOD = 'import { z } from "zod";\n';

test("gives subject, HTML and text from the parameters", async (t) => {
  const template = await load(
    t,
    `import { Html, Link, Text } from "@react-email/components";
     export const subject = ({ name }) => \`Hello \${name}\`;
     export default ({ name, url }) => <Html><Text>Dear {name}</Text><Link href={url}>Look</Link></Html>;`,
  );
  const rendered = await draw(template, { name: "<Ada>", url: "https://shop.example/" });
  assert.ok(rendered.ok);
  assert.equal(rendered.subject, "Hello <Ada>");
  assert.match(rendered.html, /^<!DOCTYPE html.*Dear <!-- -->&lt;Ada&gt;/s);
  assert.match(rendered.text, /Dear <Ada>\n+Look https:\/\/shop\.example\//);
});

test("the schema's defaults and transforms become the props, and what it does not know is left out", async (t) => {
  const schema = `export const parameters = z.object({ n: z.number().default(7), s: z.string().transform((s) => s.toUpperCase()) });`;
  const template = await load(t, ZOD + source("return <p>{JSON.stringify(props)}</p>;", schema));
  const rendered = await draw(template, { s: "abc", extra: 1 });
  assert.ok(rendered.ok);
  assert.match(rendered.text, /\{"n":7,"s":"ABC"\}/);
});

test("the mail's locale is a prop, and without one the prop is the parameters' own", async (t) => {
  const template = await load(t, source('return <p>{props.locale ?? "none"}</p>;'));
  const text = async (parameters: unknown, locale: string | null) => {
    const rendered = await draw(template, parameters, locale);
    return rendered.ok && rendered.text;
  };
  assert.equal(await text({}, "de-AT"), "de-AT");
  assert.equal(await text({}, null), "none");
  assert.equal(await text({ locale: "fr" }, null), "fr");
  assert.equal(await text({ locale: "fr" }, "de"), "de");
});

test("wrong parameters are all named with path and rule, and without their values", async (t) => {
  const schema = `export const parameters = z.object({ name: z.string(), items: z.array(z.object({ price: z.number() })),
    kind: z.enum(["a", "b"]), url: z.url(), pay: z.union([z.object({ card: z.string() }), z.object({ iban: z.string() })]) });`;
  const template = await load(t, ZOD + source("return <p/>;", schema));
  const message = messageOf(
    await draw(template, {
      items: [{ price: 1 }, { price: "hunter2" }],
      kind: "hunter2",
      url: "hunter2",
      pay: { card: 5, iban: ["hunter2"] },
    }),
    "parameters_invalid",
  );
  for (const path of ["name: ", "items.1.price: ", "kind: ", "url: ", "pay: ", "pay.card: ", "pay.iban: "]) {
    assert.ok(message.includes(path), `${path} in ${message}`);
  }
  assert.ok(message.startsWith("mail: "));
  assert.ok(!message.includes("hunter2"), message);
  for (const parameters of [null, "text", 5, []]) {
    messageOf(await draw(template, parameters), "parameters_invalid");
  }
});

test("without a schema, parameters must still be an object", async (t) => {
  const template = await load(t, source("return <p/>;"));
  for (const parameters of [null, "text", 5, []]) {
    assert.match(messageOf(await draw(template, parameters), "parameters_invalid"), /must be an object/);
  }
});

test("a component that throws is reported with file, line and column", async (t) => {
  const template = await load(t, source("const order = undefined;\n  return <p>{order.number}</p>;"));
  const message = messageOf(await draw(template), "render_failed");
  assert.match(message, /^emails\/mail\.tsx:5:20: TypeError: Cannot read properties of undefined/);
});

test("so is a part that it imports", async (t) => {
  const folder = await folderOf(t, {
    "_parts/price.tsx": "export function Price({ of }) {\n  return <b>{of.toFixed(2)}</b>;\n}\n",
    "shop/mail.tsx": `import { Price } from "../_parts/price";\n${source("return <Price />;")}`,
  });
  const template = (await folder.load()).get("shop/mail")!;
  assert.match(
    messageOf(await draw(template), "render_failed"),
    /^emails\/_parts\/price\.tsx:2:17: TypeError/,
  );
});

const THROWN: [body: string, message: RegExp][] = [
  ['throw "words"', /threw a string: words$/],
  ["throw undefined", /threw undefined$/],
  ["throw null", /threw null$/],
  ["throw { toString() { throw 1; } }", /threw something that cannot be shown$/],
  ['throw Symbol("s")', /threw a symbol: Symbol\(s\)$/],
  ['throw new Error("long ".repeat(1000))', /^.{499}…$/],
  ['throw new Error("two\\nlines \\u001b[31mred\\u001b[0m")', /two lines red$/],
  [
    'const e = new Error("x"); Object.defineProperty(e, "stack", { get() { throw 1; } }); throw e',
    /cannot be shown$/,
  ],
  ['return Promise.reject(new Error("later"))', /:\d+:\d+: Error: later$/],
  ["return Promise.reject()", /threw undefined$/],
  ["return { not: 1 }", /not valid as a React child/],
  ["return undefined", /returned nothing$/],
  ['return ""', /returned nothing$/],
];
for (const [body, message] of THROWN) {
  test(`a component with \`${body}\` fails and says so`, async (t) => {
    const template = await load(t, source(`${body};`));
    const text = messageOf(await draw(template), "render_failed");
    assert.match(text, message);
    assert.match(text, /^emails\/mail\.tsx/);
  });
}

const SUBJECTS: [subject: string, message: RegExp][] = [
  ['() => { throw new Error("no") }', /:\d+:\d+: Error: no$/],
  ["() => 5", /`subject` must give a string$/],
  ["() => undefined", /`subject` must give a string$/],
  ['""', /`subject` must not be empty$/],
  ['() => " \\n "', /`subject` must not be empty$/],
];
for (const [subject, message] of SUBJECTS) {
  test(`a subject \`${subject}\` fails the rendering`, async (t) => {
    const template = await load(t, `export const subject = ${subject};\nexport default () => <p/>;`);
    assert.match(messageOf(await draw(template), "render_failed"), message);
  });
}

test("a subject is one line", async (t) => {
  const template = await load(
    t,
    'export const subject = " Hi\\r\\nBcc: v@x.example\\u0000";\nexport default () => <p/>;',
  );
  const rendered = await draw(template);
  assert.ok(rendered.ok);
  assert.equal(rendered.subject, "Hi Bcc: v@x.example");
});

test("a template may bring its own text part", async (t) => {
  const rest = 'export const text = ({ name }) => "Plain " + name + "\\r\\nsecond\\u0007";';
  const rendered = await draw(await load(t, source("return <p>HTML</p>;", rest)), { name: "Ada" });
  assert.ok(rendered.ok);
  assert.equal(rendered.text, "Plain Ada\nsecond");
  const wrong = await load(t, source("return <p/>;", "export const text = () => 5;"));
  assert.match(messageOf(await draw(wrong), "render_failed"), /`text` must give a string/);
});

test("an asynchronous component and Suspense are waited for", async (t) => {
  const template = await load(
    t,
    `import { Suspense } from "react";
     const Late = async () => { await new Promise((done) => setImmediate(done)); return <b>late</b>; };
     ${source("return <div><Suspense fallback={<i>fallback</i>}><Late /></Suspense></div>;")}`,
  );
  const rendered = await draw(template);
  assert.ok(rendered.ok);
  assert.equal(rendered.text, "late");
  assert.ok(!rendered.html.includes("fallback"));
});

test("an error below Suspense fails the rendering, it does not send the fallback", async (t) => {
  const template = await load(
    t,
    `import { Suspense } from "react";
     const Bad = () => { throw new Error("inside"); };
     ${source("return <div><Suspense fallback={<i>fallback</i>}><Bad /></Suspense></div>;")}`,
  );
  assert.match(messageOf(await draw(template), "render_failed"), /Error: inside$/);
});

test("rendering that never ends is given up", async (t) => {
  const template = await load(t, source("return new Promise(() => {});"));
  const rendered = await renderTemplate(template, {}, { locale: null, timeout: 30 });
  assert.match(messageOf(rendered, "render_timeout"), /^emails\/mail\.tsx: did not end within 30 ms/);
});

test("a broken template fails with the reason why it is broken", async (t) => {
  const catalog = await (await folderOf(t, { "mail.tsx": "export default () => <p>" })).load();
  const template = catalog.get("mail")!;
  assert.equal(messageOf(await draw(template), "render_failed"), template.broken);
});

test("a schema that throws or gives no object fails the rendering", async (t) => {
  const throwing = "export const parameters = { safeParse() { throw new Error('schema'); } };";
  assert.match(
    messageOf(await draw(await load(t, source("return <p/>;", throwing))), "render_failed"),
    /Error: schema/,
  );
  const text = "export const parameters = z.any().transform(() => 'text');";
  const template = await load(t, ZOD + source("return <p/>;", text));
  assert.match(messageOf(await draw(template), "render_failed"), /must give an object/);
});

test("a parameter named __proto__ changes no prototype", async (t) => {
  const template = await load(
    t,
    source("return <p>{String({}.polluted)} {String(Object.prototype.polluted)}</p>;"),
  );
  const rendered = await draw(template, JSON.parse('{"__proto__": {"polluted": "yes"}}'));
  assert.ok(rendered.ok);
  assert.equal(rendered.text, "undefined undefined");
});
