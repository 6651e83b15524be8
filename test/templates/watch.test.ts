import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TemplateCatalog } from "../../src/templates/load.ts";
import { draw, type Folder, folderOf, source } from "./folder.ts";

const GOOD = source("return <p>first</p>;");

/** The folder's catalogue, kept up to date, and the next reload after what `change` does. */
async function watched(t: TestContext, folder: Folder) {
  const reloads = new EventEmitter();
  let count = 0;
  const catalog = await folder.load({
    watch: true,
    onReload: () => {
      count += 1;
      reloads.emit("reload");
    },
  });
  const after = async (change: () => Promise<void>): Promise<void> => {
    const reload = once(reloads, "reload", {
      signal: AbortSignal.any([t.signal, AbortSignal.timeout(10_000)]),
    });
    // The watch does not keep a process alive, so the test does.
    const alive = setInterval(() => {}, 1000);
    await change();
    await reload.finally(() => clearInterval(alive));
  };
  return { catalog, after, count: () => count };
}

async function textOf(catalog: TemplateCatalog, name: string): Promise<string> {
  const template = catalog.get(name);
  assert.ok(template, `there is a template ${name}`);
  const rendered = await draw(template);
  return rendered.ok ? rendered.text : rendered.message;
}

test("a saved template is read again, the others stay as they are", async (t) => {
  const folder = await folderOf(t, { "mail.tsx": GOOD, "other.tsx": GOOD });
  const { catalog, after } = await watched(t, folder);
  const other = catalog.get("other");
  await after(() => folder.write("mail.tsx", source("return <p>second</p>;")));
  assert.equal(await textOf(catalog, "mail"), "second");
  assert.equal(catalog.get("other"), other);
});

test("a broken save leaves the other templates usable, says what is wrong, and is mended by the next", async (t) => {
  const folder = await folderOf(t, { "mail.tsx": GOOD, "other.tsx": GOOD });
  const { catalog, after } = await watched(t, folder);
  await after(() => folder.write("mail.tsx", "export default () => <p>"));
  assert.match(catalog.get("mail")?.broken ?? "", /^emails\/mail\.tsx:1:\d+: /);
  assert.equal(await textOf(catalog, "other"), "first");
  await after(() => folder.write("mail.tsx", source("return <p>mended</p>;")));
  assert.equal(await textOf(catalog, "mail"), "mended");
});

test("a file replaced by renaming, a new folder, a removed template and a shared part are all seen", async (t) => {
  const folder = await folderOf(t, {
    "_part.tsx": "export const Part = () => <b>one</b>;",
    "mail.tsx": `import { Part } from "./_part";\n${source("return <Part />;")}`,
    "gone.tsx": GOOD,
  });
  const { catalog, after } = await watched(t, folder);
  await after(async () => {
    await folder.write("../new", "export const Part = () => <b>two</b>;");
    await rename(join(folder.path, "../new"), join(folder.path, "_part.tsx"));
  });
  assert.equal(await textOf(catalog, "mail"), "two");
  await after(() => folder.write("billing/invoice.tsx", GOOD));
  assert.equal(await textOf(catalog, "billing/invoice"), "first");
  await after(() => rm(join(folder.path, "gone.tsx")));
  assert.equal(catalog.get("gone"), undefined);
});

test("a file outside of the folder that a template imports is watched, also while it is broken", async (t) => {
  const folder = await folderOf(t, {
    "../shared/word.ts": 'export const word: string = "one";',
    "mail.tsx": `import { word } from "../shared/word";\n${source("return <p>{word}</p>;")}`,
  });
  const { catalog, after } = await watched(t, folder);
  await after(() => folder.write("../shared/word.ts", "export const word ="));
  assert.match(catalog.get("mail")?.broken ?? "", /^shared\/word\.ts:1:/);
  await after(() => folder.write("../shared/word.ts", 'export const word = "two";'));
  assert.equal(await textOf(catalog, "mail"), "two");
});

test("a save that changes nothing, and a folder that is away for a moment, reload nothing", async (t) => {
  const folder = await folderOf(t, { "mail.tsx": GOOD });
  const { catalog, after, count } = await watched(t, folder);
  await rename(folder.path, `${folder.path}-away`);
  await rename(`${folder.path}-away`, folder.path);
  await folder.write("mail.tsx", GOOD);
  // A change that does count shows that the one before was looked at, or is seen together with it.
  await after(() => folder.write("new.tsx", GOOD));
  assert.equal(count(), 1);
  assert.equal(await textOf(catalog, "mail"), "first");
});

test("after close nothing is read any more, and what was loaded still renders", async (t) => {
  const folder = await folderOf(t, { "mail.tsx": GOOD });
  const { catalog } = await watched(t, folder);
  await catalog.close();
  await folder.write("mail.tsx", source("return <p>second</p>;"));
  assert.equal(await textOf(catalog, "mail"), "first");
});
