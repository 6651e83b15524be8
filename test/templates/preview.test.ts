import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { PosthasteError } from "../../src/errors.ts";
import { loadTemplates } from "../../src/templates/load.ts";
import { startPreview } from "../../src/templates/preview.ts";
import { makePreviewFolder } from "../../src/templates/preview-folder.ts";
import { folderOf, source } from "./folder.ts";

const EMAILS = join(import.meta.dirname, "../../emails");

test("the preview shows a template and leaves no process behind", { timeout: 30_000 }, async (t) => {
  // Its compiler is this process's own, and stays.
  await loadTemplates(EMAILS);
  const own = await descendants();
  const preview = await startPreview(EMAILS, await freePort());
  t.after(() => preview.close());
  const processes = (await descendants()).filter((id) => !own.includes(id));
  assert.ok(processes.length > 0);
  const page = await fetch(`${preview.url}/preview/order-confirmed`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Thank you, .*Amara/);
  await preview.close();
  await preview.ended;
  await assert.rejects(fetch(preview.url));
  // Its compiler ends by itself when the preview's end of the pipe is gone.
  while (processes.some(isAlive)) await new Promise(setImmediate);
});

test("a preview of a folder that is not there says why it does not start", { timeout: 30_000 }, async (t) => {
  const folder = await folderOf(t, {});
  await assert.rejects(startPreview(join(folder.path, "nowhere"), await freePort()), (error) => {
    assert.ok(error instanceof PosthasteError);
    assert.match(error.message, /nowhere.*ENOENT.*Set `emails`/);
    return true;
  });
});

test("a preview outlives a template whose top level ends the process", async (t) => {
  const folder = await folderOf(t, {
    "ends.tsx": `process.exit(0); ${source("return <p>x</p>;")}`,
    "good.tsx": source("return <p>x</p>;"),
  });
  const pages = await makePreviewFolder(folder.path);
  t.after(() => pages.close());
  assert.deepEqual((await readdir(pages.path)).filter((name) => name.endsWith(".tsx")).sort(), [
    "ends.tsx",
    "good.tsx",
  ]);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await new Promise((listening) => server.once("listening", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Ids of the processes below this one. */
async function descendants(): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,comm="]);
  const all = stdout.split("\n").map((line) => line.trim().split(/\s+/));
  const below = (id: number): number[] =>
    all
      .filter(([, parent, name]) => Number(parent) === id && name !== "ps")
      .flatMap(([child]) => [Number(child), ...below(Number(child))]);
  return below(process.pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
