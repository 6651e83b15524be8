import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createDatabaseFiles } from "../../src/database/files.ts";
import { createTestDatabase } from "../database.ts";
import { bytesOf, sha256, whole } from "../message/files.ts";
import { enqueue, errorOf, mail } from "../sql/mails.ts";

const database = await createTestDatabase();
const { pool } = database;
const store = createDatabaseFiles(pool);
const producer = database.as("posthaste_producer");

async function put(bytes: Buffer, client: Pick<typeof pool, "query"> = producer): Promise<string> {
  const { rows } = await client.query("select posthaste.put_file('a.pdf', 'application/pdf', $1) as ref", [
    bytes,
  ]);
  return rows[0].ref;
}

function keyOf(ref: string): string {
  assert.match(ref, /^files:[0-9a-f-]{36}$/);
  return ref.slice("files:".length);
}

suite("posthaste.put_file", () => {
  test("keeps a producer's file, and the store gives it back byte by byte", async () => {
    for (const size of [0, 1, 255, 256 * 1024, 256 * 1024 + 1, 1_000_000]) {
      const bytes = bytesOf(size, size + 1);
      const file = await store.find(keyOf(await put(bytes)));
      assert.deepEqual([file?.size, file?.checksum], [size, sha256(bytes)]);
      assert.ok((await whole(file?.read() ?? assert.fail())).equals(bytes), `${size} bytes`);
    }
  });

  test("is undone with its transaction", async () => {
    const client = await producer.connect();
    await client.query("begin");
    const ref = await put(Buffer.from("report"), client);
    await client.query("rollback");
    client.release();
    assert.equal(await store.find(keyOf(ref)), null);
  });

  for (const [what, field, values] of [
    ["a name with a slash", "name", ["../a", "a/b", "eA=="]],
    ["no name", "name", [null, "a/b", "eA=="]],
    ["a name that turns the writing", "name", ["a\u202efdp.exe", "a/b", "eA=="]],
    ["a content_type that is none", "content_type", ["a", "pdf", "eA=="]],
    ["a content_type of parts", "content_type", ["a", "multipart/mixed", "eA=="]],
    ["no bytes", "bytes", ["a", "a/b", null]],
  ] as const) {
    test(`refuses ${what}`, async () => {
      const error = await errorOf(
        producer.query("select posthaste.put_file($1, $2, decode($3, 'base64'))", [...values]),
      );
      assert.deepEqual([error.code, error.column], ["PH006", field]);
    });
  }

  test("refuses more than 64 MiB", async () => {
    const query = "select posthaste.put_file('a', 'a/b', decode(repeat('00', 67108865), 'hex'))";
    const error = await errorOf(pool.query(query));
    assert.match(error.message, /67108864 bytes, not 67108865/);
  });

  test("is all that a producer can do: it reads no file, not even its own", async () => {
    await put(Buffer.from("secret"));
    for (const statement of [
      "select bytes from posthaste.files",
      "select id from posthaste.files",
      "insert into posthaste.files (id) values (gen_random_uuid())",
      "update posthaste.files set bytes = ''",
      "delete from posthaste.files",
    ])
      assert.equal((await errorOf(producer.query(statement))).code, "42501", statement);
    const operator = database.as("posthaste_operator");
    assert.ok((await operator.query("select id, name, size from posthaste.files")).rowCount);
    assert.equal((await errorOf(operator.query("select bytes from posthaste.files"))).code, "42501");
  });
});

suite("the store in the database", () => {
  test("has no file of a key that is none of its own", async () => {
    for (const key of [
      "",
      "report",
      "../a",
      "0198c0de-0000-7000-8000-000000000001",
      "' or true --",
      "A".repeat(36),
    ])
      assert.equal(await store.find(key), null, key);
  });

  test("does not end as if all were well when a file goes while it is read", async () => {
    const key = keyOf(await put(bytesOf(600_000)));
    const file = await store.find(key);
    const pieces = file?.read()[Symbol.asyncIterator]() ?? assert.fail();
    assert.equal((await pieces.next()).done, false);
    await database.query("delete from posthaste.files where id = $1", [key]);
    await assert.rejects(pieces.next(), /gone/);
  });
});

suite("a mail is enqueued with", () => {
  const attached = (storage_ref: string, more = {}) =>
    JSON.stringify([{ filename: "a.pdf", content_type: "application/pdf", storage_ref, ...more }]);

  test("the checksums of the files that the database keeps", async () => {
    const bytes = Buffer.from("report");
    const ref = await put(bytes);
    const id = await enqueue(producer, { attachments: attached(ref) });
    assert.equal((await mail(pool, id)).attachments[0]?.checksum, sha256(bytes));
  });

  test("the checksum that the request gives", async () => {
    const checksum = sha256(Buffer.from("other"));
    const id = await enqueue(producer, { attachments: attached("invoices:1.pdf", { checksum }) });
    assert.equal((await mail(pool, id)).attachments[0]?.checksum, checksum);
    const error = await errorOf(
      enqueue(producer, { attachments: attached("invoices:1.pdf", { checksum: "1" }) }),
    );
    assert.equal(error.code, "PH006");
  });

  test("none when the file is elsewhere, or not there yet", async () => {
    for (const ref of ["invoices:1.pdf", "files:1.pdf", "files:0198c0de-0000-7000-8000-000000000001"]) {
      const id = await enqueue(producer, { attachments: attached(ref) });
      assert.deepEqual((await mail(pool, id)).attachments, JSON.parse(attached(ref)));
    }
  });

  for (const ref of [
    "files:../../etc/passwd", "files:/etc/passwd", "/etc/passwd", "../../etc/passwd", "files:a/%2e%2e/b", "files:%2e%2e/a",
    "file:///etc/passwd", "http://169.254.169.254/latest/meta-data/", "https://x.test/a", "data:text/plain,hi", "data:text/plain;base64,aGk=",
    "files:a\\..\\b", "files:", ":a", "Files:a", "files:.a", "files:a//b", "files:a/", "files:a b", "files:a\nb", "files:a\u202eb",
  ]) // biome-ignore format: a list
    test(`never with ${JSON.stringify(ref)}`, async () => {
      const error = await errorOf(enqueue(producer, { attachments: attached(ref) }));
      assert.deepEqual([error.code, error.column], ["PH006", "attachments"]);
    });
});
