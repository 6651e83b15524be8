import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { FileStore, StoredFile } from "../../src/file-store.ts";
import {
  type Attachment,
  type AttachmentReference,
  resolveAttachments,
} from "../../src/message/attachments.ts";
import { bytesOf, memoryStore, sha256, stored, whole } from "./files.ts";

const REPORT = bytesOf(2500);

function reference(changes: Partial<AttachmentReference> = {}): AttachmentReference {
  return {
    filename: "report.pdf",
    content_type: "application/pdf",
    storage_ref: "files:report",
    ...changes,
  };
}

function resolve(
  references: readonly AttachmentReference[],
  store: FileStore = memoryStore({ report: REPORT }),
  limits: { maxMessageSize?: number; patience?: number } = {},
) {
  return resolveAttachments(references, {
    stores: new Map([["files", store]]),
    maxMessageSize: 1_000_000,
    patience: 5_000,
    ...limits,
  });
}

async function read(attachment: Attachment | undefined): Promise<Buffer> {
  assert.ok(attachment);
  return whole(attachment.read());
}

/** A store whose one file is this one. */
function only(file: StoredFile): FileStore {
  return { find: async () => file };
}

suite("attachments", () => {
  test("of a mail without any are none", async () => {
    assert.deepEqual(await resolve([]), { ok: true, attachments: [] });
  });

  test("are found in their store, with size and checksum, and read", async () => {
    for (const checksums of [true, false]) {
      const found = await resolve([reference({ cid: "r" })], memoryStore({ report: REPORT }, checksums));
      assert.ok(found.ok);
      const [attachment] = found.attachments;
      assert.deepEqual(
        [attachment?.filename, attachment?.contentType, attachment?.size, attachment?.checksum],
        ["report.pdf", "application/pdf", 2500, sha256(REPORT)],
      );
      assert.equal(attachment?.cid, "r");
      assert.deepEqual(await read(attachment), REPORT);
    }
  });

  test("that are not there are missing, by their filename and storage_ref", async () => {
    const cases: [string, RegExp][] = [
      ["files:other", /"report\.pdf" \("files:other"\).*no such file/],
      ["invoices:report", /"report\.pdf".*no store of that name is configured; there is files/],
      ["report", /no store of that name/],
      [":report", /no store of that name/],
      ["__proto__:report", /no store of that name/],
      ["files:constructor", /no such file/],
    ];
    for (const [storage_ref, message] of cases) {
      const found = await resolve([reference({ storage_ref })]);
      assert.ok(!found.ok);
      assert.equal(found.code, "attachment_missing");
      assert.match(found.message, message);
    }
  });

  test("that are other ones than at enqueue have changed, whoever knows the checksum", async () => {
    for (const checksums of [true, false]) {
      const found = await resolve(
        [reference({ checksum: sha256(Buffer.from("as it was")) })],
        memoryStore({ report: REPORT }, checksums),
      );
      assert.ok(!found.ok);
      assert.equal(found.code, "attachment_changed");
      assert.match(found.message, /report\.pdf/);
    }
  });

  test("whose store fails, or falls silent, are unavailable", async () => {
    const silent = new Promise<never>(() => undefined);
    const broken: FileStore[] = [
      { find: () => Promise.reject(new Error("EIO: i/o error")) },
      { find: () => silent },
      only({ size: 1, checksum: null, read: () => failing(new Error("EIO: i/o error")) }),
      only({ size: 1, checksum: null, read: () => failing(silent) }),
    ];
    for (const store of broken) {
      const found = await resolve([reference()], store, { patience: 20 });
      assert.ok(!found.ok);
      assert.equal(found.code, "attachment_unavailable");
      assert.match(found.message, /report\.pdf.*(EIO|no answer within 20 ms)/);
    }
  });

  test("that are larger than a message may be are not read", async () => {
    let reads = 0;
    const store = only({
      size: 2500,
      checksum: null,
      read() {
        reads += 1;
        return stored(REPORT).read();
      },
    });
    const found = await resolve([reference(), reference()], store, { maxMessageSize: 6000 });
    assert.deepEqual([found.ok, !found.ok && found.code, reads], [false, "message_too_large", 0]);
  });
});

suite("the bytes of an attachment do not end as if all were well", () => {
  const others: [string, StoredFile, string][] = [
    ["when they are others", { ...stored(bytesOf(2500, 2)), checksum: sha256(REPORT) }, "attachment_changed"],
    [
      "when they are too few",
      { ...stored(REPORT.subarray(1)), size: 2500, checksum: sha256(REPORT) },
      "attachment_changed",
    ],
    ["when they are too many", { ...stored(REPORT, sha256(REPORT)), size: 2499 }, "attachment_changed"],
    [
      "when the store breaks off",
      { size: 1, checksum: "", read: () => failing(new Error("gone")) },
      "attachment_unavailable",
    ],
  ];
  for (const [what, file, code] of others) {
    test(what, async () => {
      const found = await resolve([reference()], only(file));
      assert.ok(found.ok);
      await assert.rejects(read(found.attachments[0]), { name: "AttachmentError", code });
    });
  }
});

/** Fails, or waits for ever. */
async function* failing(how: Error | Promise<never>): AsyncGenerator<Uint8Array> {
  yield how instanceof Error ? await Promise.reject(how) : await how;
}
