import assert from "node:assert/strict";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { simpleParser } from "mailparser";
import { type Scene, startScene } from "../faults/scene.ts";
import { bytesOf, sha256 } from "../message/files.ts";
import { attached, INVOICE, put, sceneWithFolder } from "./with-files.ts";

test("a file that changes while it is being sent ends the mail without its final dot", async (t) => {
  const { scene, folder } = await sceneWithFolder(t);
  scene.server.script = {
    data: async () => {
      await writeFile(join(folder, "17.pdf"), bytesOf(300_000, 2));
      return undefined;
    },
  };
  await scene.here();
  const id = await scene.enqueue({ attachments: attached("invoices:17.pdf") });
  assert.equal((await scene.until(id, "FAILED")).error_code, "attachment_changed");
  assert.equal((await scene.attempts(id))[0]?.phase, "data");
  await scene.verify();
  assert.deepEqual(scene.server.accepted, []);
});

suite("a store that is down costs its mail no attempt and no other mail anything, and when it is back the mail goes out:", () => {
  /** The mail waits, refunded, while another one is sent. */
  async function waits(scene: Scene, id: string): Promise<void> {
    const row = await scene.until(id, "PENDING");
    assert.deepEqual(
      [row.attempt_count, row.deferral_count > 0, row.error_code],
      [0, true, "attachment_unavailable"],
    );
    await scene.until(await scene.enqueue({ parameters: { n: 1 } }), "SENT");
    assert.deepEqual(
      await scene.database.query("select from posthaste_private.transports where state = 'open'"),
      [],
    );
  }

  test("a folder that is not mounted", async (t) => {
    const { scene, folder } = await sceneWithFolder(t, { options: { retry: { delays: ["1h"] } } });
    await rename(folder, `${folder}-away`);
    const { log } = await scene.here();
    const id = await scene.enqueue({ parameters: { n: 1 }, attachments: attached("invoices:17.pdf") });
    await log.line("email_retried");
    await waits(scene, id);
    await rename(`${folder}-away`, folder);
    await scene.hurry(id);
    await scene.until(id, "SENT");
    await scene.verify();
  });

  for (const [when, point] of [
    ["is asked", "before"],
    ["is read in the middle of the message", "data"],
  ] as const) {
    test(`a database that says nothing when it ${when}`, async (t) => {
      const scene = await startScene(t, { options: { timeouts: { store: 300 }, retry: { delays: ["1h"] } } });
      const id = await scene.enqueue({
        parameters: { n: 1 },
        attachments: attached(await put(scene, INVOICE)),
      });
      const blocker = await scene.database.pool.connect();
      const block = () => blocker.query("begin; lock table posthaste.files");
      if (point === "before") await block();
      else
        scene.server.script = {
          data: async () => {
            await block();
            scene.server.script = {};
            return undefined;
          },
        };
      const { log } = await scene.here();
      await log.line("email_retried");
      await waits(scene, id);
      assert.equal((await scene.attempts(id))[0]?.phase, point === "data" ? "data" : "render");
      await blocker.query("rollback");
      blocker.release();
      await scene.hurry(id);
      await scene.until(id, "SENT");
      assert.equal(scene.server.accepted.length, 2, "nothing but the two mails was taken");
      await scene.verify();
    });
  }
});

test("many large files at once need little memory, and arrive as they are", async (t) => {
  const { scene, folder } = await sceneWithFolder(t, {
    // All are in the middle of being sent together.
    smtp: { script: { data: async () => void (await scene.server.reached("data", 4)) } },
  });
  const files = [1, 2, 3, 4].map((seed) => bytesOf(8_000_000, seed));
  await writeFile(join(folder, "1.bin"), files[0] as Buffer);
  await writeFile(join(folder, "2.bin"), files[1] as Buffer);
  const refs = [
    "invoices:1.bin",
    "invoices:2.bin",
    await put(scene, files[2] as Buffer),
    await put(scene, files[3] as Buffer),
  ];
  const worker = await scene.process();
  for (const ref of refs) await scene.enqueue({ parameters: { n: 1 }, attachments: attached(ref) });
  await scene.drained();
  const sums = await Promise.all(
    scene.server.accepted.map(async ({ raw }) =>
      sha256((await simpleParser(raw)).attachments[0]?.content ?? raw),
    ),
  );
  assert.deepEqual(sums.sort(), files.map(sha256).sort());
  // The most that it ever had; only Linux says.
  const status = await readFile(`/proc/${worker.pid}/status`, "utf8").catch(() => "");
  const megabytes = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  t.diagnostic(`most memory: ${Math.round(megabytes)} MB`);
  assert.ok(megabytes < 300, `${megabytes} MB`);
  await worker.end();
  await scene.verify();
});
