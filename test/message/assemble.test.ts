import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type ParsedMail, simpleParser } from "mailparser";
import type { Attachment } from "../../src/message/attachments.ts";
import { base64Lines, base64Size } from "../../src/message/base64.ts";
import { composeMessage, type MessageInput } from "../../src/message/compose.ts";
import { bytesOf, sha256, stored, whole } from "./files.ts";

const input: MessageInput = {
  id: "0198c0de-0000-7000-8000-000000000001",
  messageId: "<0198c0de-0000-7000-8000-000000000001@shop.example>",
  from: "Shop <no-reply@shop.example>",
  recipients: ["Ada <ada@x.test>"],
  cc: [],
  replyTo: [],
  subject: "Hello",
  html: '<p>Hello <img src="cid:logo"></p>',
  text: "Hello",
  headers: {},
  idempotencyHeader: null,
  date: new Date("2026-11-30T12:00:00Z"),
  attachments: [],
};

function attachment(bytes: Buffer, changes: Partial<Attachment> = {}): Attachment {
  const { size, read } = stored(bytes);
  const checksum = sha256(bytes);
  return { filename: "a.bin", contentType: "application/x-a", cid: null, size, checksum, read, ...changes };
}

async function sent(attachments: readonly Attachment[]): Promise<{ raw: string; mail: ParsedMail }> {
  const message = await composeMessage({ ...input, attachments });
  const octets = Buffer.concat(await message.stream().toArray());
  assert.equal(octets.length, message.size);
  return { raw: octets.toString("latin1"), mail: await simpleParser(octets) };
}

suite("base64", () => {
  test("is, whatever the size and the pieces, what Node makes of the whole, in lines of 76", async () => {
    const sizes = [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 47_879, 47_880, 47_881, 95_760, 100_000];
    for (const size of sizes) {
      const bytes = bytesOf(size);
      const lines = (await whole(base64Lines(stored(bytes).read()))).toString();
      assert.equal(lines.replaceAll("\r\n", ""), bytes.toString("base64"));
      assert.ok(
        lines.split("\r\n").every((line, index, all) => index === all.length - 1 || line.length === 76),
      );
      assert.equal(lines.length, base64Size(size), `${size} bytes`);
      assert.doesNotMatch(lines, /\r\n$/);
    }
  });

  test("comes in pieces below 64 KiB", async () => {
    const lengths: number[] = [];
    for await (const piece of base64Lines(stored(bytesOf(200_000)).read())) lengths.push(piece.length);
    assert.ok(lengths.length > 3 && Math.max(...lengths) <= 65_536 + 2, String(lengths));
  });
});

suite("a message with files", () => {
  test("carries them as they are, of every size, and knows its own size before", async () => {
    const files = [0, 1, 57, 58, 1000, 100_001].map((size) => bytesOf(size, size));
    const { mail } = await sent(files.map((bytes, index) => attachment(bytes, { filename: `${index}.bin` })));
    assert.deepEqual(
      mail.attachments.map(({ filename, content }) => [filename, content.toString("hex")]),
      files.map((bytes, index) => [`${index}.bin`, bytes.toString("hex")]),
    );
  });

  test("carries text byte by byte, too, with its own line ends", async () => {
    const bytes = Buffer.from("a;b\r\n1;2\n\r.\nFrom ü\0");
    const { mail } = await sent([attachment(bytes, { filename: "a.csv", contentType: "text/csv" })]);
    assert.deepEqual(mail.attachments[0]?.content, bytes);
    assert.equal(mail.attachments[0]?.contentType, "text/csv");
  });

  test("shows an image in the HTML by its cid, next to attached ones", async () => {
    const logo = attachment(bytesOf(300), { filename: "logo.png", contentType: "image/png", cid: "logo" });
    const { raw, mail } = await sent([attachment(bytesOf(10)), logo]);
    assert.match(raw, /multipart\/related/);
    assert.match(raw, /Content-Id: <logo>/i);
    const shown = mail.attachments.find(({ cid }) => cid === "logo");
    assert.deepEqual([shown?.contentDisposition, shown?.related], ["inline", true]);
    assert.deepEqual(shown?.content, bytesOf(300));
    assert.equal(mail.attachments.find(({ related }) => !related)?.contentDisposition, "attachment");
  });

  test("names them in any language (RFC 2231), on no line of its own", async () => {
    for (const filename of [
      "Rechnung März.pdf",
      "請求書 2026.pdf",
      'a "quoted"; b=c.pdf',
      `${"ü".repeat(149)}x`,
    ]) {
      const { raw, mail } = await sent([attachment(bytesOf(10), { filename })]);
      assert.equal(mail.attachments[0]?.filename, filename);
      assert.match(raw, /^Content-Disposition: attachment;/m);
      assert.doesNotMatch(raw, /[^\x20-\x7e\r\n\t]/);
    }
    const { raw } = await sent([attachment(bytesOf(10), { filename: "Rechnung März.pdf" })]);
    assert.match(raw, /filename\*0?\*?=/);
    const evil = await sent([attachment(bytesOf(10), { filename: "a\r\nBcc: v@x.test\r\n\r\nb.pdf" })]);
    assert.equal(evil.mail.bcc, undefined);
    assert.equal(evil.mail.attachments.length, 1);
  });

  test("never carries one as parts or as a message of its own", async () => {
    for (const contentType of ["multipart/mixed", "message/rfc822", "Message/External-Body"]) {
      const { mail } = await sent([attachment(bytesOf(10), { contentType })]);
      assert.deepEqual(
        mail.attachments.map(({ contentType, content }) => [contentType, content]),
        [["application/octet-stream", bytesOf(10)]],
      );
    }
  });

  test("reads them anew for another try, and not before", async () => {
    let reads = 0;
    const bytes = bytesOf(5000);
    const counted = attachment(bytes, {
      read() {
        reads += 1;
        return stored(bytes).read();
      },
    });
    const message = await composeMessage({ ...input, attachments: [counted] });
    assert.equal(reads, 0);
    const first = Buffer.concat(await message.stream().toArray());
    assert.deepEqual(Buffer.concat(await message.stream().toArray()), first);
    assert.equal(reads, 2);
  });

  test("ends with an error, not as a message, when a file cannot be read to its end", async () => {
    const broken = attachment(bytesOf(10), {
      async *read() {
        yield bytesOf(5);
        throw new Error("broken off");
      },
    });
    const message = await composeMessage({ ...input, attachments: [broken] });
    await assert.rejects(message.stream().toArray(), /broken off/);
  });
});
