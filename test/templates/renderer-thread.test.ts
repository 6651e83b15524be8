import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packageRoot } from "../../src/package-root.ts";
import { loadTemplates, type TemplateCatalog } from "../../src/templates/load.ts";
import {
  createRendererThread,
  type RenderedHere,
  type RendererThread,
  type ThreadLoss,
} from "../../src/templates/renderer-thread.ts";
import { eventually } from "../faults/eventually.ts";
import { draw, folderOf, source } from "./folder.ts";

const REQUEST = { parameters: {}, locale: null, timeout: 5000 };

const GOOD = source("return <p>Good {props.n}</p>;");
const LOOP = source("while (true) {}");
/** Waits until there is a file of this name. */
const WAITS = `import { existsSync } from "node:fs";
export const subject = async ({ file }) => {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
  return "Waited";
};
export default function Mail() { return <p>Waited</p>; }`;

interface Stage {
  readonly catalog: TemplateCatalog;
  readonly thread: RendererThread;
  readonly lost: (readonly [readonly string[], ThreadLoss])[];
  readonly strays: string[];
  /** Renders with this template; gives the text, the code, or null. */
  draw(name: string, parameters?: unknown, timeout?: number): Promise<string | null>;
}

async function stage(t: TestContext, files: Record<string, string>, patience = 1000): Promise<Stage> {
  const catalog = await (await folderOf(t, { "good.tsx": GOOD, "loop.tsx": LOOP, ...files })).load();
  const lost: (readonly [readonly string[], ThreadLoss])[] = [];
  const strays: string[] = [];
  const thread = createRendererThread({
    patience,
    onLost: (templates, loss) => lost.push([templates, loss]),
    onStray: ({ stray, error }) => strays.push(`${stray.place} ${error}`),
  });
  t.after(() => thread.close());
  return {
    catalog,
    thread,
    lost,
    strays,
    async draw(name, parameters = {}, timeout = REQUEST.timeout) {
      const template = catalog.get(name);
      assert.ok(template);
      return shown(await thread.render(template, { ...REQUEST, parameters, timeout }));
    },
  };
}

function shown(result: RenderedHere | null): string | null {
  return result && (result.rendered.ok ? result.rendered.text : result.rendered.code);
}

test("the thread renders what this thread would: every template, sample and failure", async (t) => {
  const catalog = await loadTemplates(join(packageRoot, "emails"));
  const { thread } = await stage(t, {}, 60_000);
  for (const template of catalog.list()) {
    for (const parameters of [...template.samples.values(), { nonsense: true }]) {
      const here = await draw(template, parameters, "de-CH");
      const there = await thread.render(template, { ...REQUEST, parameters, locale: "de-CH" });
      assert.deepEqual(there?.rendered, here);
      assert.ok(there.took >= 0);
    }
  }
});

test("a mail that holds the thread is given back, and the mail behind it is rendered by another one", async (t) => {
  const { draw, lost } = await stage(t, {});
  const mails = await Promise.all([
    draw("good", { n: 1 }),
    draw("loop"),
    draw("good", { n: 2 }),
    draw("loop"),
    draw("good", { n: 3 }),
  ]);
  assert.deepEqual(mails, ["Good 1", null, "Good 2", null, "Good 3"]);
  assert.deepEqual(lost, [[["loop"], "it was blocked"]]);
});

for (const [does, body, losses] of [
  ["spins in microtasks", "while (true) await null;", ["it was blocked"]],
  ["ends what it runs in", "process.exit(0);", ["it ended"]],
  // On a slow machine its time is over first.
  [
    "fills buffers",
    "const all = []; for (;;) all.push(Buffer.alloc(1e6, 1));",
    ["it took too much memory", "it was blocked"],
  ],
] as const) {
  test(`a mail whose template ${does} is given back, and the next thread goes on`, async (t) => {
    const bad = `export const subject = async () => { ${body} };\nexport default () => <p>Bad</p>;\n`;
    const { draw, lost } = await stage(t, { "bad.tsx": bad });
    assert.deepEqual(await Promise.all([draw("bad"), draw("good", { n: 1 })]), [null, "Good 1"]);
    const [[names, loss] = [], ...others] = lost;
    assert.deepEqual([names, others], [["bad"], []]);
    assert.ok(
      losses.some((each) => each === loss),
      loss,
    );
  });
}

test("a mail that waits for something holds nobody up, and is suspected with the one that then holds the thread", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "posthaste-test-"));
  t.after(() => rm(home, { recursive: true }));
  const { draw, lost } = await stage(t, { "waits.tsx": WAITS, "patient.tsx": WAITS });
  const first = draw("waits", { file: home });
  assert.equal(await first, "Waited");
  const waiting = draw("waits", { file: join(home, "never") });
  assert.equal(await draw("good", { n: 1 }), "Good 1");
  assert.deepEqual(await Promise.all([waiting, draw("loop"), draw("good", { n: 2 })]), [
    null,
    null,
    "Good 2",
  ]);
  assert.deepEqual(lost, [[["waits", "loop"], "it was blocked"]]);
});

test("what runs on after its time is left behind, and ended when the mails beside it are rendered", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "posthaste-test-"));
  t.after(() => rm(home, { recursive: true }));
  const counts = `import { appendFileSync } from "node:fs";
export const subject = async ({ file }) => {
  for (;;) {
    appendFileSync(file, ".");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};
export default () => <p>Never</p>;`;
  const { draw, lost } = await stage(t, { "counts.tsx": counts, "waits.tsx": WAITS });
  const signal = join(home, "signal");
  const before = workers();
  const beside = draw("waits", { file: signal });
  assert.equal(await draw("counts", { file: join(home, "counted") }, 100), "render_timeout");
  assert.equal(workers(), before + 1, "the one that was left behind, and a new one");
  assert.equal(await draw("counts", { file: signal }, 100), "render_timeout");
  assert.equal(await beside, "Waited");
  await eventually("only one thread is left", async () => workers() === before);
  assert.equal(await draw("good", { n: 1 }), "Good 1");
  assert.deepEqual(lost, []);
});

test("what a template throws out of turn is told with its place, and the mails beside it are rendered", async (t) => {
  const throws = source('setTimeout(() => { throw new Error("secret"); }); return <p>Thrown</p>;');
  const { draw, lost, strays } = await stage(t, { "throws.tsx": throws });
  assert.equal(await draw("throws"), "Thrown");
  await eventually("it is told", async () => strays.length > 0);
  assert.match(strays[0] ?? "", /^emails\/throws\.tsx:4:28 Error/);
  assert.ok(!strays[0]?.includes("secret"));
  assert.equal(await draw("good", { n: 1 }), "Good 1");
  assert.deepEqual(lost, []);
});

test("a template that finds no room on the disk for its module is given back, until there is room", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "posthaste-test-"));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = home;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const catalog = await (await folderOf(t, { "good.tsx": GOOD })).load();
  const { thread } = await stage(t, {});
  const good = catalog.get("good");
  assert.ok(good);
  const [folder = ""] = globSync(join(home, "posthaste-renderer-*"));
  await rm(folder, { recursive: true });
  await writeFile(folder, "in the way");
  const request = { ...REQUEST, parameters: { n: 1 } };
  assert.equal(await thread.render(good, request), null);
  await rm(folder);
  assert.equal(shown(await thread.render(good, request)), "Good 1");
});

test("closing gives back what is being rendered", async (t) => {
  const { draw, thread, lost } = await stage(t, {});
  const mails = [draw("loop"), draw("good", { n: 1 })];
  await thread.close();
  assert.deepEqual(await Promise.all(mails), [null, null]);
  assert.equal(await draw("good"), null);
  assert.deepEqual(lost, []);
});

/** How many threads this process has. */
function workers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "MessagePort").length;
}
