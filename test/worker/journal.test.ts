import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { findJournalProblem } from "../../src/worker/journal-trial.ts";
import { openShop } from "../cli/shop.ts";
import { startOwnDatabase } from "../faults/own-database.ts";
import { startScene } from "../faults/scene.ts";

test("neither check nor a worker goes by a journal that cannot be written", async (t) => {
  const shop = await openShop(t, {
    options: 'environment: "production", journal: "./graphile.config.mjs/journal"',
  });
  const said =
    /The journal cannot be written in .*graphile\.config\.mjs\/journal: ENOTDIR.*set `journal` to a folder/;
  const id = await shop.enqueue();
  const worker = await shop.run("worker", "--once");
  assert.match(worker.stderr, said);
  assert.equal(worker.code, 1);
  assert.equal((await shop.row(id)).attempt_count, 0);
  const check = await shop.run("check");
  assert.match(check.stdout, new RegExp(`^ERROR journal: ${said.source}`, "m"));
  assert.equal(check.code, 1);
});

test("the trial of a journal leaves in its folder nothing, and for check not even the folder", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "posthaste-journal-"));
  t.after(() => rm(home, { recursive: true }));
  const folder = join(home, "a", "b");
  assert.equal(await findJournalProblem(folder, { tidy: true }), null);
  assert.deepEqual(readdirSync(home), []);
  assert.equal(await findJournalProblem(folder), null);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(await findJournalProblem(folder, { tidy: true }), null);
  assert.ok(existsSync(folder));
});

test("a disk without space is told apart from a mistake in the set-up", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "posthaste-journal-"));
  t.after(() => rm(home, { recursive: true }));
  const module = pathToFileURL(join(import.meta.dirname, "../../src/worker/journal-trial.ts")).href;
  const script = `console.log(JSON.stringify(await (await import("${module}")).findJournalProblem("${home}")))`;
  // A process that may not write a single octet to a file.
  const limited = 'ulimit -f 0 && exec "$0" --input-type=module --eval "$1"';
  const problem = JSON.parse(
    execFileSync("sh", ["-c", limited, process.execPath, script], { encoding: "utf8" }),
  );
  assert.equal(problem.full, true);
  assert.match(problem.sentence, /EFBIG/);
});

describe("a worker that is told to stop while neither database nor journal can be written", {
  concurrency: 3,
}, () => {
  /** Four mails whose acceptances are nowhere but in the worker's memory. */
  async function stuck(t: TestContext, shutdownGrace: string) {
    const database = await startOwnDatabase();
    const scene = await startScene(t, { database, options: { shutdownGrace } });
    let stopped: Promise<unknown> | undefined;
    scene.server.script.dot = async () => {
      await scene.server.reached("dot", 4);
      stopped ??= database.postgres.stop("immediate");
      await stopped;
      return undefined;
    };
    const worker = await scene.process();
    await rm(scene.journal, { recursive: true });
    await writeFile(scene.journal, "a file");
    const ids = await scene.enqueueMany(4);
    await worker.log.line("journal_failed");
    await scene.server.messages(4);
    scene.server.script = {};
    worker.kill("SIGTERM");
    await worker.log.line("worker_stopping");
    return { database, scene, worker, ids };
  }

  test("tries until its time is up, and says which are lost, with exit code 1", async (t) => {
    const { database, scene, worker, ids } = await stuck(t, "2s");
    assert.deepEqual(await worker.exited, { code: 1, signal: null });
    const lost = await worker.log.line("outcomes_lost");
    const stopping = await worker.log.line("worker_stopping");
    assert.ok(Date.parse(String(lost.time)) - Date.parse(String(stopping.time)) >= 1_900);
    assert.deepEqual(
      [lost.level, lost.count, [...(lost.ids as string[])].sort()],
      ["error", 4, [...ids].sort()],
    );
    await database.postgres.start();
    await rm(scene.journal);
    await scene.process();
    await scene.drained(20_000);
    const duplicated = ids.map((id, index) => `${id} person${index + 1}@customer.example`).sort();
    await scene.verify({ duplicated });
  });

  test("leaves them to the journal as soon as that can be written, and exits with 0", async (t) => {
    const { database, scene, worker } = await stuck(t, "20s");
    await rm(scene.journal);
    await mkdir(scene.journal);
    assert.deepEqual(await worker.exited, { code: 0, signal: null });
    await database.postgres.start();
    await scene.process();
    await scene.drained();
    await scene.verify();
  });

  test("records them when the database is back in time, and exits with 0", async (t) => {
    const { database, scene, worker } = await stuck(t, "20s");
    await database.postgres.start();
    assert.deepEqual(await worker.exited, { code: 0, signal: null });
    await rm(scene.journal);
    await scene.process();
    await scene.drained();
    await scene.verify();
  });
});
