import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startEmbedded } from "../../src/database/embedded.ts";
import { accepts, query, temporaryFolder } from "./one-query.ts";

interface Child {
  readonly process: ChildProcess;
  readonly url: string;
  /** The server's data folder. */
  readonly data: string;
}

/** A process that starts an embedded PostgreSQL, does more, and then says how to connect and where its data lies. */
async function startInChild(options: object, more: string): Promise<Child> {
  const program = `
    import pg from "pg";
    import { startEmbedded } from ${JSON.stringify(join(import.meta.dirname, "../../src/database/embedded.ts"))};
    const { connectionString: url } = await startEmbedded(${JSON.stringify(options)});
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    const { data } = (await client.query("select current_setting('data_directory') as data")).rows[0];
    ${more}
    console.log(JSON.stringify({ url, data }));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { process: child, ...JSON.parse(line) };
}

/** Waits until it holds, for what other processes do. */
async function eventually(holds: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, otherwise);
    await delay(20);
  }
}

const GOES_ON = "setInterval(() => {}, 1000);";
const ENDS = {
  "process.exit": "setImmediate(() => process.exit(3));",
  "coming to its end": "await client.end();",
  SIGTERM: GOES_ON,
  SIGINT: GOES_ON,
  SIGKILL: GOES_ON,
};
for (const [end, more] of Object.entries(ENDS)) {
  test(`a server without a directory is gone, with its data, after its process ended by ${end}`, async () => {
    const child = await startInChild({ settings: { fsync: "off" } }, more);
    if (end.startsWith("SIG")) child.process.kill(end as NodeJS.Signals);
    await eventually(() => !existsSync(join(child.data, "..")), `${child.data} is still there`);
    assert.equal(await accepts(child.url), false);
  });
}

test("a process with a server keeps its own handling of signals", async () => {
  const own = "process.on('SIGTERM', () => setTimeout(() => process.exit(7), 50));";
  const child = await startInChild({ settings: { fsync: "off" } }, own + GOES_ON);
  const exit = once(child.process, "exit");
  child.process.kill("SIGTERM");
  assert.deepEqual(await exit, [7, null]);
});

test("a directory whose server was killed together with its watchdog recovers at the next start", async (t) => {
  if (process.platform !== "linux") return t.skip("the watchdog is found through /proc");
  const directory = join(await temporaryFolder(t), "kept");
  const more = `await client.query('create table kept as select 1 as n'); ${GOES_ON}`;
  const child = await startInChild({ directory }, more);
  const postmaster = Number((await readFile(join(child.data, "postmaster.pid"), "utf8")).split("\n")[0]);
  const parent = child.process.pid;
  const watchdog = Number((await readFile(`/proc/${parent}/task/${parent}/children`, "utf8")).trim());
  const scratch = (await readFile(`/proc/${watchdog}/cmdline`, "utf8")).split("\0").at(-2) ?? "";
  t.after(() => rm(scratch, { recursive: true }));
  for (const pid of [watchdog, postmaster]) process.kill(pid, "SIGKILL");
  child.process.kill("SIGKILL");
  await eventually(async () => !(await accepts(child.url)), "the server still runs");
  const again = await startEmbedded({ directory });
  t.after(() => again.stop());
  assert.deepEqual(await query(again.connectionString, "select n from kept"), [{ n: 1 }]);
});
