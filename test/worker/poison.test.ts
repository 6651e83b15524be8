import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { eventually } from "../faults/eventually.ts";
import { type Scene, startScene } from "../faults/scene.ts";

/** A template whose component does this before it returns anything. */
function poison(body: string, how = ""): string {
  return `export const subject = "Poison";
export default ${how} function Poison() {
  ${body}
  return <html><body><p>Poison</p></body></html>;
}`;
}

const LOOP = poison("while (true) {}");
const OPTIONS = {
  lease: "20s",
  timeouts: { render: "3s" },
  retry: { maxAttempts: 1, delays: [50] },
} as const;

/** What a template does, and how its mail ends. */
const POISONS = {
  "loops for ever": [LOOP, "render_timeout", /^emails\/poison\.tsx: did not end within 3000 ms/],
  "spins in microtasks": [poison("while (true) await null;", "async"), "render_timeout", /did not end/],
  "ends the process": [poison("process.exit();"), "worker_crashed", /ended its process \(exit code 0\)/],
  aborts: [poison("process.abort();"), "render_failed", /process\.abort\(\) is not supported/],
} as const;

/** What ends the process, a message of the mail, and how many workers it may end. */
const KILLERS = {
  "kills its process": [
    poison('process.kill(process.pid, "SIGABRT"); while (true) {}'),
    /ended its process \(SIGABRT\)/,
    [2],
  ],
  // V8 stops the thread or the process, as the code happens to be compiled.
  "fills the heap": [
    poison("const all = []; for (;;) all.push(new Array(1000).fill(Math.random()));"),
    /more than 256 MB of heap/,
    [0, 1, 2],
  ],
} as const;

describe("a template that", { concurrency: 3 }, () => {
  for (const [does, [source, code, message]] of Object.entries(POISONS)) {
    test(`${does} fails its own mail, and the mail beside it is sent by the same worker`, async (t) => {
      const { scene, bad, good } = await withPoison(t, source);
      const worker = scene.kept();
      await scene.drained(60_000);
      const row = await scene.row(bad);
      assert.deepEqual([row.status, row.error_code], ["FAILED", code]);
      assert.match(row.error_message, message);
      assert.deepEqual(outcomes(await scene.attempts(bad)), ["failed"]);
      await sentAtOnce(scene, good);
      assert.equal(worker.workers.length, 1);
      await worker.stop();
      await scene.verify();
    });
  }

  for (const [does, [source, message, deaths]] of Object.entries(KILLERS)) {
    test(`${does} takes its worker with it twice at most, and the mail beside it is sent with its one attempt`, async (t) => {
      // On busy cores it takes its time to fill a heap.
      const { scene, bad, good } = await withPoison(t, source, "20s");
      const worker = scene.kept();
      // What is handed over when its worker dies may have arrived, whoever killed it: here nothing is.
      scene.server.script.rcpt = () => scene.until(bad, "FAILED", 90_000).then(() => undefined);
      await scene.drained(90_000);
      const row = await scene.row(bad);
      assert.equal(row.error_code, "worker_crashed");
      assert.match(row.error_message, message);
      const [last, ...before] = outcomes(await scene.attempts(bad)).reverse();
      assert.equal(last, "failed");
      assert.ok(before.every((outcome) => outcome === "crashed" || outcome === "released"));
      await sentAtOnce(scene, good);
      assert.ok(deaths.some((count) => worker.workers.length === count + 1));
      await worker.stop();
      await scene.verify();
    });
  }

  test("takes longer than a moment is given all its time, apart from the others", async (t) => {
    const source = poison("const end = performance.now() + 2500; while (performance.now() < end);");
    const scene = await startScene(t, {
      templates: { "poison.tsx": source },
      options: { ...OPTIONS, timeouts: { render: "10s" } },
    });
    const slow = await scene.enqueue({ template: "poison", max_attempts: 1 });
    const { log } = await scene.process();
    const ids = await scene.enqueueMany(5);
    await scene.drained();
    for (const id of [slow, ...ids]) assert.equal((await scene.row(id)).status, "SENT");
    assert.equal((await log.line("renderer_lost")).template, "poison");
    await scene.verify();
  });
});

describe("a worker", { concurrency: 3 }, () => {
  test("that a template blocks when it is loaded says which one, and ends itself", async (t) => {
    const scene = await startScene(t, { templates: { "top.tsx": "while (true) {}" }, options: OPTIONS });
    const worker = await scene.process({ started: false });
    assert.equal((await worker.log.line("worker_blocked")).template, "top");
    assert.deepEqual(await worker.exited, { code: null, signal: "SIGKILL" });
  });

  test("that is told to stop gives back mail whose template still waits for something", async (t) => {
    const source = poison("await new Promise((resolve) => setTimeout(resolve, 60_000));", "async");
    const options = { ...OPTIONS, timeouts: { render: "1m" }, shutdownGrace: "100ms" };
    const scene = await startScene(t, { templates: { "poison.tsx": source }, options });
    const worker = await scene.process();
    const id = await scene.enqueue({ template: "poison" });
    await scene.until(id, "SENDING");
    worker.kill("SIGTERM");
    assert.deepEqual(await worker.exited, { code: 0, signal: null });
    const row = await scene.row(id);
    assert.deepEqual([row.status, row.attempt_count], ["PENDING", 0]);
    assert.deepEqual(outcomes(await scene.attempts(id)), ["released"]);
    assert.ok(!worker.log.lines.some(({ event }) => event === "email_isolated"));
  });

  test("that was stopped for longer than it may be blocked goes on", async (t) => {
    const scene = await startScene(t, { options: OPTIONS });
    const worker = await scene.process();
    worker.kill("SIGSTOP");
    await worker.stopped();
    await delay(3_000);
    worker.kill("SIGCONT");
    const id = await scene.enqueue({ parameters: { n: 1 } });
    await scene.until(id, "SENT");
    assert.ok(!worker.log.lines.some(({ event }) => event === "worker_blocked"));
  });

  test("logs what a template throws in a timer of its own and goes on, as does the mail", async (t) => {
    const source = poison('setTimeout(() => { throw new Error("secret"); }, 1);');
    const scene = await startScene(t, { templates: { "poison.tsx": source }, options: OPTIONS });
    const worker = await scene.process();
    const ids = [await scene.enqueue({ template: "poison" }), ...(await scene.enqueueMany(20))];
    for (const id of ids) assert.deepEqual([(await scene.until(id, "SENT")).attempt_count], [1]);
    const line = await worker.log.line("template_threw");
    assert.deepEqual([line.template, line.place], ["poison", "emails/poison.tsx:3:28"]);
    assert.ok(!worker.log.text.includes("secret"));
    const next = await scene.enqueue({ parameters: { n: 1 } });
    await scene.until(next, "SENT");
  });
});

describe("a process for rendering", { concurrency: 3 }, () => {
  test("takes all mail of a template while one of its mails is on trial: many that never end stop one thread", async (t) => {
    const scene = await startScene(t, { templates: { "poison.tsx": LOOP }, options: OPTIONS });
    const bad: string[] = [];
    for (let n = 0; n < 5; n += 1) bad.push(await scene.enqueue({ template: "poison", max_attempts: 1 }));
    const { log } = await scene.process();
    for (const id of await scene.enqueueMany(5)) await scene.until(id, "SENT");
    await scene.drained(60_000);
    for (const id of bad) assert.equal((await scene.row(id)).error_code, "render_timeout");
    assert.equal(log.lines.filter(({ event }) => event === "renderer_lost").length, 1);
    await scene.verify();
  });

  test("that cannot be started costs its mail no attempt", async (t) => {
    const scene = await startScene(t, { templates: { "poison.tsx": LOOP }, options: OPTIONS });
    const home = await mkdtemp(join(tmpdir(), "posthaste-test-"));
    t.after(() => rm(home, { recursive: true }));
    await scene.process({ environment: { TMPDIR: home } });
    await rm(home, { recursive: true });
    await writeFile(home, "in the way");
    const bad = await scene.enqueue({ template: "poison", max_attempts: 1 });
    // The row may be under way again: what its first attempt came to is told by that attempt.
    const first = await eventually("it is put off", async () => {
      const [attempt] = await scene.attempts(bad);
      return attempt?.outcome && attempt;
    });
    assert.deepEqual([first.outcome, first.error_code], ["deferred", "worker_crashed"]);
    assert.match(first.error_message, /no process could be started/);
    await rm(home);
    await mkdir(home);
    const row = await scene.until(bad, "FAILED");
    assert.deepEqual([row.error_code, row.attempt_count], ["render_timeout", 1]);
  });

  test("is not started for mail that waits, is put off or throws, however often", async (t) => {
    const scene = await startScene(t, {
      templates: { "throws.tsx": poison('throw new Error("no");') },
    });
    let later = 3;
    scene.server.script.data = () => (later-- > 0 ? "451 4.3.0 Later" : undefined);
    const { log } = await scene.here();
    const ids = await scene.enqueueMany(5);
    const bad = await scene.enqueue({ template: "throws" });
    await scene.drained();
    for (const id of ids) assert.equal((await scene.row(id)).status, "SENT");
    assert.equal((await scene.row(bad)).error_code, "render_failed");
    assert.equal(await rendererOf(process.pid), null);
    assert.ok(!log.lines.some(({ event }) => event === "email_isolated"));
  });

  test("has no secrets, is the first to go when memory runs out, and does not outlive a worker that is killed", async (t) => {
    const scene = await suspected(t, LOOP);
    const worker = await scene.process({ options: { timeouts: { render: "1m" } } });
    await worker.log.line("email_isolated");
    const renderer = await eventually("a process renders", () => rendererOf(worker.pid));
    const environment = (await readFile(`/proc/${renderer}/environ`, "utf8"))
      .split("\0")
      .map((line) => line.split("=")[0]);
    assert.deepEqual(
      environment.filter(
        (name) => !/^(NODE_ENV|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|NODE_CHANNEL_\w+|)$/.test(name ?? ""),
      ),
      [],
    );
    await eventually("the kernel would end it first", async () => {
      const adjusted = await readFile(`/proc/${renderer}/oom_score_adj`, "utf8");
      return adjusted.trim() === "1000";
    });
    await worker.end();
    await eventually("it is gone", async () => !(await isAlive(renderer)));
  });

  test("is ended when its worker is stopped, and the mail is given back", async (t) => {
    const scene = await suspected(t, LOOP);
    const worker = await scene.process({ options: { timeouts: { render: "1m" }, shutdownGrace: "100ms" } });
    const renderer = await eventually("a process renders", () => rendererOf(worker.pid));
    worker.kill("SIGTERM");
    assert.deepEqual(await worker.exited, { code: 0, signal: null });
    await eventually("it is gone", async () => !(await isAlive(renderer)));
    const [{ id }] = await scene.database.query("select id from posthaste.email_messages");
    const row = await scene.row(id);
    assert.deepEqual([row.status, row.attempt_count], ["PENDING", 0]);
  });

  test("takes the next mail of a template that did harm there, which would kill the worker", async (t) => {
    const scene = await suspected(t, LOOP);
    const worker = await scene.process();
    await scene.drained();
    const next = await scene.enqueue({ template: "poison" });
    assert.equal((await scene.until(next, "FAILED")).error_code, "render_timeout");
    assert.deepEqual(
      (await scene.attempts(next)).map(({ outcome }) => outcome),
      ["failed"],
    );
    assert.ok(!worker.log.lines.some(({ event }) => event === "worker_blocked"));
  });

  test("leaves most slots to mail that nothing is known against", async (t) => {
    const scene = await suspected(t, LOOP, 6);
    const options = { timeouts: { render: "1m" }, concurrency: 8 } as const;
    const { log } = await scene.process({ options });
    for (const id of await scene.enqueueMany(5)) await scene.until(id, "SENT");
    await log.line("email_released");
    assert.equal(log.lines.filter(({ event }) => event === "email_isolated").length, 4);
  });
});

/** A scene with fifty mails of one attempt each, and among the first of them one of this template. */
async function withPoison(t: TestContext, source: string, render: string = OPTIONS.timeouts.render) {
  const scene = await startScene(t, {
    templates: { "poison.tsx": source },
    options: { ...OPTIONS, timeouts: { render } },
  });
  const good: string[] = [];
  const enqueue = async (n: number) => good.push(await scene.enqueue({ parameters: { n }, max_attempts: 1 }));
  for (let n = 0; n < 10; n += 1) await enqueue(n);
  const bad = await scene.enqueue({ template: "poison", max_attempts: 1 });
  for (let n = 10; n < 50; n += 1) await enqueue(n);
  return { scene, bad, good };
}

/** Each is sent with its first attempt, once. */
async function sentAtOnce(scene: Scene, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { status, attempt_count, possible_duplicate, error_message } = await scene.row(id);
    assert.deepEqual([status, attempt_count, possible_duplicate, error_message], ["SENT", 1, false, null]);
  }
}

function outcomes(attempts: Awaited<ReturnType<Scene["attempts"]>>): unknown[] {
  return attempts.map(({ outcome }) => outcome);
}

/** A scene with mails of this template, with which two workers have died. */
async function suspected(t: TestContext, source: string, count = 1): Promise<Scene> {
  const scene = await startScene(t, { templates: { "poison.tsx": source }, options: OPTIONS });
  const { database } = scene;
  for (let made = 0; made < count; made += 1) await scene.enqueue({ template: "poison" });
  for (let crash = 0; crash < 2; crash += 1) {
    await database.query(
      `select from posthaste_private.claim(array(select id from posthaste.email_messages), 'gone', '1 minute', 'production', 'shop.example')`,
    );
    await database.query("select posthaste_private.reap($1)", [{ delays: [50], max_age: 3_600_000 }]);
  }
  return scene;
}

/** Process id of the first process for rendering that this one has started. */
async function rendererOf(parent: number): Promise<number | null> {
  const { stdout } = await promisify(execFile)("ps", ["-e", "-o", "pid=,ppid=,args="]);
  const line = stdout
    .split("\n")
    .find((each) => each.includes("renderer-main") && Number(each.trim().split(/\s+/)[1]) === parent);
  return line === undefined ? null : Number(line.trim().split(/\s+/)[0]);
}

async function isAlive(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({
    stdout: "",
  }));
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}
