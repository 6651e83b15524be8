import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { PosthasteError } from "../../src/errors.ts";
import { loadTemplates } from "../../src/templates/load.ts";
import { draw, folderOf, load, source } from "./folder.ts";

const GOOD = source("return <p>Hello</p>;");

test("a template is named for its path below the folder, without the ending", async (t) => {
  const folder = await folderOf(t, {
    "welcome.tsx": GOOD,
    "billing/invoice.tsx": GOOD,
    "billing/eu/vat.tsx": GOOD,
  });
  const names = (await folder.load()).list().map(({ name }) => name);
  assert.deepEqual(names, ["billing/eu/vat", "billing/invoice", "welcome"]);
});

test("what begins with an underscore or a dot, and what is not .tsx, is no template", async (t) => {
  const folder = await folderOf(t, {
    "_parts/button.tsx": "nonsense(",
    "_draft.tsx": "nonsense(",
    ".hidden/x.tsx": "nonsense(",
    "node_modules/some/x.tsx": "nonsense(",
    "words.ts": "nonsense(",
    "README.md": "nonsense(",
    "ok.tsx": GOOD,
  });
  assert.deepEqual(
    (await folder.load()).list().map(({ name }) => name),
    ["ok"],
  );
});

test("an empty folder is an empty catalogue, a missing one an error that says what to set", async (t) => {
  const folder = await folderOf(t, {});
  assert.deepEqual((await folder.load()).list(), []);
  await assert.rejects(loadTemplates(join(folder.path, "nowhere")), (error) => {
    assert.ok(error instanceof PosthasteError);
    assert.match(error.message, /nowhere.*ENOENT.*Set `emails`/);
    return true;
  });
});

test("a name that is no template's is not found, whatever it looks like", async (t) => {
  const catalog = await (await folderOf(t, { "ok.tsx": GOOD, "_parts/x.tsx": GOOD })).load();
  const names = [
    "__proto__",
    "constructor",
    "toString",
    "../emails/ok",
    "./ok",
    "/ok",
    "ok.tsx",
    "OK",
    "",
    "_parts/x",
  ];
  for (const name of names) assert.equal(catalog.get(name), undefined, name);
});

test("one broken template hinders no other, and says where it is broken", async (t) => {
  const folder = await folderOf(t, {
    "good.tsx": GOOD,
    "syntax.tsx": 'export const subject = "x";\nexport default () => <p>;\n',
    "package.tsx": `import { x } from "no-such-package";\n${source("return <p>{x}</p>;")}`,
    "nested/file.tsx": `import { x } from "./missing";\n${source("return <p>{x}</p>;")}`,
    "top.tsx": `\nthrow new TypeError("at its top");\n${GOOD}`,
    "top-string.tsx": `throw "a string";\n${GOOD}`,
  });
  const catalog = await folder.load();
  const good = catalog.get("good");
  assert.ok(good);
  assert.equal((await draw(good)).ok, true);
  assert.match(catalog.get("syntax")?.broken ?? "", /^emails\/syntax\.tsx:\d+:\d+: /);
  assert.match(catalog.get("package")?.broken ?? "", /^emails\/package\.tsx:1:19: .*"no-such-package"/);
  assert.match(catalog.get("nested/file")?.broken ?? "", /^emails\/nested\/file\.tsx:1:19: .*\.\/missing/);
  assert.match(catalog.get("top")?.broken ?? "", /^emails\/top\.tsx:2:7: TypeError: at its top$/);
  assert.equal(catalog.get("top-string")?.broken, "emails/top-string.tsx: threw a string: a string");
});

test("a template that breaks the contract says which rule", async (t) => {
  const zod = 'import { z } from "zod";\n';
  const folder = await folderOf(t, {
    "a.tsx": 'export const subject = "x";',
    "b.tsx": "export default () => <p/>;",
    "c.tsx": source("return <p/>;", "export const parameters = { name: String };"),
    "d.tsx": source("return <p/>;", 'export const onUnknownOutcome = "retry";'),
    "e.tsx": source("return <p/>;", 'export const secrets = "code";'),
    "f.tsx":
      zod +
      source(
        "return <p/>;",
        'export const parameters = z.object({ code: z.string() }); export const secrets = ["cod"];',
      ),
    "g.tsx": zod + source("return <p/>;", "export const parameters = z.object({ key: z.string() });"),
    "h.tsx": source("return <p/>;", "export const text = 5;"),
  });
  const reasons = (await folder.load()).list().map(({ broken }) => broken ?? "");
  const rules = [
    /component as default/,
    /`subject`/,
    /zod schema/,
    /"resend" or "fail", not "retry"/,
    /array of paths/,
    /"cod"/,
    /`key`/,
    /`text`/,
  ];
  assert.equal(reasons.length, rules.length);
  for (const [index, rule] of rules.entries()) {
    assert.match(reasons[index]!, rule);
    assert.match(reasons[index]!, /^emails\/[a-h]\.tsx: /);
  }
});

test("what a template says about itself is in the catalogue", async (t) => {
  const template = await load(
    t,
    `import { z } from "zod";
     export const parameters = z.object({ code: z.string(), name: z.string().optional(), n: z.number().default(1),
       any: z.enum(["a", "b"]), none: z.string().nullish() }).refine((p) => p.n > 0, { path: ["n"] });
     export const secrets = ["code"];
     export const onUnknownOutcome = "fail";
     ${source("return <p/>;")}
     Mail.PreviewProps = { code: "1" };`,
  );
  assert.deepEqual(template.required, ["code", "any"]);
  assert.deepEqual(template.secrets, ["code"]);
  assert.equal(template.onUnknownOutcome, "fail");
  assert.deepEqual(template.previewProps, { code: "1" });
  assert.match(template.version, /^[0-9a-f]{16}$/);
});

test("without a schema and the rest, a template asks for nothing", async (t) => {
  const { required, secrets, onUnknownOutcome, previewProps } = await load(t, GOOD);
  assert.deepEqual(
    { required, secrets, onUnknownOutcome, previewProps },
    { required: [], secrets: [], onUnknownOutcome: null, previewProps: null },
  );
});

test("a rule across parameters does not make one of them required", async (t) => {
  const { required } = await load(
    t,
    `import { z } from "zod";
     export const parameters = z.object({ a: z.string().optional(), b: z.string().optional() })
       .superRefine((p, ctx) => { if (!p.a && !p.b) ctx.addIssue({ code: "custom", path: ["a"], message: "a or b" }); });
     ${GOOD}`,
  );
  assert.deepEqual(required, []);
});

test("the version changes with the template and what it imports, and with nothing else", async (t) => {
  const folder = await folderOf(t, {
    "_part.tsx": "export const Part = () => <b>1</b>;",
    "uses.tsx": `import { Part } from "./_part";\n${source("return <Part />;")}`,
    "other.tsx": GOOD,
  });
  const versions = async () =>
    new Map((await folder.load()).list().map(({ name, version }) => [name, version]));
  const first = await versions();
  assert.deepEqual(await versions(), first);
  await folder.write("_part.tsx", "export const Part = () => <b>2</b>;");
  const second = await versions();
  assert.notEqual(second.get("uses"), first.get("uses"));
  assert.equal(second.get("other"), first.get("other"));
  // Another copy of the same sources is the same version.
  const copy = await folderOf(t, { "other.tsx": GOOD });
  assert.equal((await copy.load()).get("other")?.version, first.get("other"));
});

test("templates use the React that renders them, and packages beside them", async (t) => {
  const folder = await folderOf(t, {
    "mail.tsx": `import { useMemo } from "react";\nimport { word } from "beside";\n${source("return <p>{useMemo(() => word, [])}</p>;")}`,
    "../node_modules/beside/package.json": '{ "name": "beside", "type": "module", "exports": "./index.js" }',
    "../node_modules/beside/index.js": 'export const word = "from beside";',
  });
  const rendered = await draw((await folder.load()).get("mail")!);
  assert.ok(rendered.ok && rendered.html.includes("from beside"), JSON.stringify(rendered));
});

test("loading leaves no files behind", async (t) => {
  const folder = await folderOf(t, { "mail.tsx": GOOD });
  const temporary = join(folder.path, "../tmp");
  await mkdir(temporary);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  await folder.load();
  assert.deepEqual(await readdir(temporary), []);
});
