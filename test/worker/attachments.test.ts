import assert from "node:assert/strict";
import { symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { simpleParser } from "mailparser";
import { type Scene, startScene } from "../faults/scene.ts";
import { bytesOf, sha256 } from "../message/files.ts";
import { attached, INVOICE, sceneWithFolder } from "./with-files.ts";

/** The one attachment of the next message. */
async function received(scene: Scene) {
  const mail = await simpleParser((await scene.server.nextMessage()).raw);
  const [attachment] = mail.attachments;
  assert.ok(attachment, "it has an attachment");
  return { mail, attachment };
}

suite("a mail with a file", () => {
  test("from the database, put there by the same transaction, brings it byte by byte", async (t) => {
    const scene = await startScene(t);
    await scene.here();
    await scene.database.query(
      `select posthaste.enqueue('plain', 'ada@customer.example', '{"n": 1}', attachments => jsonb_build_array(jsonb_build_object(
         'filename', 'Rechnung März.pdf', 'content_type', 'application/pdf', 'storage_ref', posthaste.put_file('r.pdf', 'application/pdf', $1))))`,
      [INVOICE],
    );
    const { attachment } = await received(scene);
    assert.equal(attachment.filename, "Rechnung März.pdf");
    assert.ok(attachment.content.equals(INVOICE));
    await scene.drained();
    await scene.verify();
  });

  test("from a folder brings it byte by byte, and keeps its checksum", async (t) => {
    const { scene } = await sceneWithFolder(t);
    await scene.here();
    const id = await scene.enqueue({ parameters: { n: 1 }, attachments: attached("invoices:17.pdf") });
    assert.ok((await received(scene)).attachment.content.equals(INVOICE));
    const row = await scene.until(id, "SENT");
    assert.equal(row.attachments[0].checksum, sha256(INVOICE));
    await scene.verify();
  });

  test("shows it in the HTML when the template names its cid", async (t) => {
    const logo = 'export const subject = "Logo"; export default () => <p><img src="cid:logo" alt="" /></p>;';
    const { scene } = await sceneWithFolder(t, { templates: { "logo.tsx": logo } });
    await scene.here();
    const image = attached("invoices:17.pdf", { content_type: "image/png", cid: "logo" });
    await scene.enqueue({ template: "logo", attachments: image });
    const { mail, attachment } = await received(scene);
    assert.deepEqual(
      [attachment.cid, attachment.contentDisposition, attachment.related],
      ["logo", "inline", true],
    );
    assert.match(
      String(mail.html),
      /src="data:image\/png;base64,/,
      "the parser found the image that it names",
    );
  });
});

suite("a mail fails at once, before anything is said to the server,", () => {
  test("when its file is not there, says which one, and is sent when it is back", async (t) => {
    const { scene, folder } = await sceneWithFolder(t);
    await scene.here();
    const id = await scene.enqueue({ parameters: { n: 1 }, attachments: attached("invoices:18.pdf") });
    const row = await scene.until(id, "FAILED");
    assert.equal(row.error_code, "attachment_missing");
    assert.match(row.error_message, /"Rechnung März\.pdf" \("invoices:18\.pdf"\)/);
    assert.equal(scene.server.sessions.length, 0);
    await writeFile(join(folder, "18.pdf"), INVOICE);
    await scene.database.query("select posthaste.retry($1)", [id]);
    await scene.until(id, "SENT");
  });

  test("when its storage_ref, got past all checks of SQL, leads out of the store", async (t) => {
    const { scene, folder } = await sceneWithFolder(t);
    await writeFile(join(dirname(folder), "secret.txt"), "canary");
    await symlink(join(dirname(folder), "secret.txt"), join(folder, "link.txt"));
    await scene.here();
    const refs = [
      "invoices:../secret.txt", "invoices:../../../../../etc/passwd", "invoices:/etc/passwd", "/etc/passwd", "invoices:%2e%2e/secret.txt",
      "invoices:link.txt", "file:///etc/passwd", "http://169.254.169.254/latest/meta-data/", "data:text/plain,hi", "https://x.test/a", "files:' or true --",
    ]; // biome-ignore format: a list
    for (const ref of refs) {
      const id = await scene.enqueue({ send_at: "2999-01-01", attachments: attached("invoices:17.pdf") });
      await scene.database.query(
        "update posthaste.email_messages set attachments = $2, send_at = now() where id = $1",
        [id, attached(ref)],
      );
      await scene.hurry(id);
      assert.equal((await scene.until(id, "FAILED")).error_code, "attachment_missing", ref);
    }
    assert.equal(scene.server.sessions.length, 0);
  });

  test("when it is larger than maxMessageSize once it is encoded", async (t) => {
    const { scene } = await sceneWithFolder(t, { options: { maxMessageSize: 400_000 } });
    await scene.here();
    const id = await scene.enqueue({ attachments: attached("invoices:17.pdf") });
    const row = await scene.until(id, "FAILED");
    assert.equal(row.error_code, "message_too_large");
    assert.match(row.error_message, /maxMessageSize is 400000/);
    assert.equal(scene.server.sessions.length, 0);
  });

  test("when it is larger than the server's SIZE: no MAIL, no DATA", async (t) => {
    const { scene } = await sceneWithFolder(t, { smtp: { size: 400_000 } });
    await scene.here();
    const id = await scene.enqueue({ attachments: attached("invoices:17.pdf") });
    assert.equal((await scene.until(id, "FAILED")).error_code, "message_too_large");
    const said = scene.server.sessions.flatMap(({ commands }) => commands);
    assert.ok(!said.some((line) => /^(MAIL|DATA)/.test(line)), said.join());
  });

  test("when the file is another one than the first attempt found", async (t) => {
    const { scene, folder } = await sceneWithFolder(t, { options: { retry: { delays: ["1h"] } } });
    await scene.here();
    scene.server.script = { dot: "451 4.3.0 Later" };
    const id = await scene.enqueue({ attachments: attached("invoices:17.pdf") });
    await scene.server.reached("dot");
    await scene.until(id, "PENDING");
    await writeFile(join(folder, "17.pdf"), bytesOf(300_000, 2));
    await scene.hurry(id);
    const row = await scene.until(id, "FAILED");
    assert.equal(row.error_code, "attachment_changed");
    assert.match(row.error_message, /invoices:17\.pdf/);
    assert.deepEqual(
      (await scene.attempts(id)).map(({ error_code }) => error_code),
      ["message_deferred", "attachment_changed"],
    );
    const said = scene.server.sessions.flatMap(({ commands }) => commands);
    assert.equal(said.filter((line) => line === "DATA").length, 1);
  });
});
