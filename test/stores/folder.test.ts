import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import type { FileStore } from "../../src/file-store.ts";
import { createFolderStore, folderProblem } from "../../src/stores/folder.ts";
import { bytesOf, whole } from "../message/files.ts";

/** A store in a folder, beside which lies what nobody may read. */
async function folderStore(t: TestContext): Promise<{ store: FileStore; home: string; folder: string }> {
  const home = await fs.realpath(await fs.mkdtemp(join(tmpdir(), "posthaste-store-")));
  t.after(() => fs.rm(home, { recursive: true, force: true }));
  const folder = join(home, "invoices");
  await fs.mkdir(join(folder, "2026"), { recursive: true });
  await fs.mkdir(join(home, "invoices-secret"));
  await fs.writeFile(join(folder, "2026/17.pdf"), bytesOf(200_000));
  for (const secret of ["secret.txt", "invoices-secret/secret.txt"])
    await fs.writeFile(join(home, secret), "canary");
  return { store: createFolderStore(folder), home, folder };
}

/** Every path that is opened from now on. */
function opened(t: TestContext): string[] {
  const paths: string[] = [];
  const { open } = fs;
  t.mock.method(fs, "open", (...parameters: Parameters<typeof open>) => {
    paths.push(String(parameters[0]));
    return open(...parameters);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return paths;
}

async function read(store: FileStore, key: string): Promise<Buffer> {
  const file = await store.find(key);
  assert.ok(file, `${key} is there`);
  return whole(file.read());
}

/** Keys that mean, to somebody, a file outside. */
const EVIL = [
  "../secret.txt", "../../etc/passwd", "../../../../../../../../etc/passwd", "2026/../../secret.txt", "2026/..", "..",
  "../invoices-secret/secret.txt", "/etc/passwd", "//etc/passwd", "a/%2e%2e/b", "%2e%2e/secret.txt", "2026/%2e%2e/%2e%2e/secret.txt",
  "%2e%2e%2fsecret.txt", "..%2fsecret.txt", "..\\secret.txt", "2026\\..\\..\\secret.txt", "\u2024\u2024/secret.txt", "．．/secret.txt",
  "..\u0000/secret.txt", "2026/17.pdf\u0000.txt", "file:///etc/passwd", "http://169.254.169.254/latest/meta-data/", "data:text/plain,hi",
  "~/secret.txt", ".hidden", "2026/.hidden", "./2026/17.pdf", "2026//17.pdf", "2026/17.pdf/", "2026/./17.pdf", "", " ", "2026/17.pdf\n",
  "proc/self/environ", "C:/Windows/win.ini", "a".repeat(513), `${"a/".repeat(255)}a`,
]; // biome-ignore format: a list

suite("a folder of files", () => {
  test("gives a file with its size, and its bytes each time anew", async (t) => {
    const { store } = await folderStore(t);
    const file = await store.find("2026/17.pdf");
    assert.deepEqual([file?.size, file?.checksum], [200_000, null]);
    assert.deepEqual(await read(store, "2026/17.pdf"), bytesOf(200_000));
    assert.deepEqual(await read(store, "2026/17.pdf"), bytesOf(200_000));
  });

  test("has no file of a key that leads out of it, and opens nothing to find that out", async (t) => {
    const { store } = await folderStore(t);
    const paths = opened(t);
    for (const key of EVIL) assert.equal(await store.find(key), null, JSON.stringify(key));
    assert.deepEqual(paths, []);
    await read(store, "2026/17.pdf");
    assert.equal(paths.length, 1, "the spy sees what is opened");
  });

  test("follows no link below it, be it the file or a folder on the way, wherever it leads", async (t) => {
    const { store, home, folder } = await folderStore(t);
    await fs.symlink(join(home, "secret.txt"), join(folder, "absolute.txt"));
    await fs.symlink("../secret.txt", join(folder, "relative.txt"));
    await fs.symlink(home, join(folder, "up"));
    await fs.symlink("/", join(folder, "root"));
    await fs.symlink("2026", join(folder, "inside"));
    await fs.symlink("loop", join(folder, "loop"));
    await fs.symlink("/proc/self/environ", join(folder, "environment.txt"));
    const paths = opened(t);
    for (const key of [
      "absolute.txt",
      "relative.txt",
      "up/secret.txt",
      "root/etc/passwd",
      "inside/17.pdf",
      "loop",
      "environment.txt",
    ])
      assert.equal(await store.find(key), null, key);
    assert.deepEqual(paths, []);
  });

  test("reads nothing from outside when a file is exchanged for a link after it was found", async (t) => {
    const { store, home, folder } = await folderStore(t);
    const file = await store.find("2026/17.pdf");
    await fs.rename(join(folder, "2026"), join(home, "moved"));
    await fs.symlink(join(home, "moved"), join(folder, "2026"));
    const paths = opened(t);
    await assert.rejects(whole(file?.read() ?? assert.fail()), /gone/);
    assert.deepEqual(paths, []);
  });

  test("reads nothing from outside when the link comes between the look and the opening", async (t) => {
    const { store, home, folder } = await folderStore(t);
    await fs.writeFile(join(home, "17.pdf"), "canary");
    const file = await store.find("2026/17.pdf");
    const { open } = fs;
    t.mock.method(fs, "open", async (...parameters: Parameters<typeof open>) => {
      await fs.rename(join(folder, "2026"), join(folder, "old"));
      await fs.symlink(home, join(folder, "2026"));
      return open(...parameters);
    });
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    await assert.rejects(whole(file?.read() ?? assert.fail()), /exchanged/);
  });

  test("has only files: no folder, no pipe, nothing that is not there", async (t) => {
    const { store, folder } = await folderStore(t);
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const key of ["2026", "pipe", "2026/18.pdf", "2026/17.pdf/x", "2027/1.pdf"])
      assert.equal(await store.find(key), null, key);
  });

  test("may itself be reached by a link, as with releases", async (t) => {
    const { home, folder } = await folderStore(t);
    await fs.symlink(folder, join(home, "current"));
    assert.deepEqual(await read(createFolderStore(join(home, "current")), "2026/17.pdf"), bytesOf(200_000));
  });

  test("that is not there cannot say that a file is missing", async (t) => {
    const { home } = await folderStore(t);
    await assert.rejects(createFolderStore(join(home, "unmounted")).find("2026/17.pdf"), { code: "ENOENT" });
    assert.match((await folderProblem(join(home, "unmounted"))) ?? "", /unmounted cannot be read: ENOENT/);
    assert.match((await folderProblem(join(home, "secret.txt"))) ?? "", /is not a folder/);
    assert.equal(await folderProblem(home), null);
  });

  test("closes a file whose reader goes away", async (t) => {
    const { store, folder } = await folderStore(t);
    const file = await store.find("2026/17.pdf");
    for await (const piece of file?.read() ?? []) {
      assert.ok(piece.length > 0);
      break;
    }
    const links = await fs.readdir("/proc/self/fd").catch(() => []);
    const targets = await Promise.all(links.map((fd) => fs.readlink(`/proc/self/fd/${fd}`).catch(() => "")));
    assert.ok(!targets.some((target) => target.startsWith(folder)));
  });
});
