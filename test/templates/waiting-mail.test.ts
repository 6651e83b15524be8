import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { validateConfiguration } from "../../src/configuration/validate.ts";
import { createLog } from "../../src/log.ts";
import { startWorker } from "../../src/worker/worker.ts";
import { eventually } from "../faults/eventually.ts";
import { type Scene, startScene } from "../faults/scene.ts";

const template = (word: string, rest = "") => `${rest}
  export const subject = "${word} subject";
  export default ({ n }) => <p>${word} text {n}</p>;`;
const BROKEN = `export const subject = "x"; export default ({ n }) => <p>{n.missing.field}</p>;`;

/** A scene whose server puts every mail off until the test says otherwise. */
async function scene(t: TestContext, source: string): Promise<Scene> {
  const made = await startScene(t, {
    templates: { "mail.tsx": source },
    options: { retry: { delays: ["1h"] } },
  });
  made.server.script.dot = "451 4.3.0 Not now";
  return made;
}

const save = (made: Scene, source: string) =>
  writeFile(join(String(made.options.emails), "mail.tsx"), source);
const acceptAgain = (made: Scene) => {
  made.server.script = {};
};

test("a mail that waits is sent as its template says after a worker's restart, with that version", async (t) => {
  const made = await scene(t, template("first"));
  const first = await made.here();
  const id = await made.enqueue({ template: "mail", parameters: { n: 1 } });
  await first.log.line("email_retried", (line) => line.id === id);
  const [before] = await made.database.query(
    "select version from posthaste_private.templates where name = 'mail'",
  );
  await first.stop();
  await save(made, template("mended"));
  acceptAgain(made);
  await made.here();
  await made.hurry(id);
  const row = await made.until(id, "SENT");
  const { raw } = await made.server.nextMessage();
  assert.match(raw.toString(), /^Subject: mended subject\r$.*mended text/ms);
  assert.equal(row.subject, "mended subject");
  assert.match(row.template_version, /^[0-9a-f]{16}$/);
  assert.notEqual(row.template_version, before.version);
});

test("a mail that failed in a broken template is sent by a retry, once the template is mended", async (t) => {
  const made = await scene(t, BROKEN);
  acceptAgain(made);
  const first = await made.here();
  const id = await made.enqueue({ template: "mail", parameters: { n: 1 } });
  assert.equal((await made.until(id, "FAILED")).error_code, "render_failed");
  await first.stop();
  await save(made, template("mended"));
  await made.here();
  await made.database.query("select posthaste.retry($1)", [id]);
  await made.until(id, "SENT");
  assert.match((await made.server.nextMessage()).raw.toString(), /mended text/);
});

test("in development a saved template is in the next attempt, and its new secrets are known at once", async (t) => {
  const made = await scene(t, template("first"));
  const { config } = validateConfiguration({
    options: made.options,
    directory: "/",
    environment: {},
    sends: true,
  });
  const worker = await startWorker({
    config,
    connectionString: made.database.connectionString,
    log: createLog({ format: "json", stream: { write: () => true } as never }),
    watch: true,
  });
  try {
    const id = await made.enqueue({ template: "mail", parameters: { n: 1 } });
    await made.server.reached("dot");
    await eventually("it waits", async () => (await made.row(id)).error_code === "message_deferred");
    await save(made, template("mended", 'export const secrets = ["n"];'));
    await eventually("the database knows the secret", async () => {
      const [known] = await made.database.query(
        "select paths from posthaste_private.template_secrets where template = 'mail'",
      );
      return known.paths.includes("n");
    });
    acceptAgain(made);
    await made.hurry(id);
    const row = await made.until(id, "SENT");
    assert.match((await made.server.nextMessage()).raw.toString(), /mended text/);
    assert.deepEqual([row.parameters, row.subject], [{}, null]);
  } finally {
    await worker.stop();
  }
});
