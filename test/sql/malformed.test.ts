import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { enqueue, errorOf, type Fields, insert, mail, type Queryable, transaction } from "./mails.ts";

const database = await createTestDatabase();
const producer = database.as("posthaste_producer");

const nested = (depth: number): unknown => (depth === 0 ? 1 : { deeper: nested(depth - 1) });
const many = (count: number) => Array.from({ length: count }, (_, n) => `a${n}@x.test`);
const file = { filename: "a.pdf", content_type: "application/pdf", storage_ref: "files:a" };
const attached = (change: Fields) => [{ ...file, ...change }];

const malformed: [string, string, string, Fields][] = [
  ["PH002", "recipients", "no recipient", { recipients: [] }],
  ["PH003", "template", "a null template", { template: null }],
  ["PH003", "template", "a template outside of its folder", { template: "../secrets" }],
  ["PH003", "template", "an absolute template", { template: "/etc/passwd" }],
  ["PH003", "template", "a template with a dot", { template: "order.tsx" }],
  ["PH003", "template", "a template with a line break", { template: "order\n" }],
  ["PH003", "template", "a template name that is too long", { template: "a".repeat(201) }],
  ["PH004", "parameters", "a parameters array", { parameters: [] }],
  ["PH004", "parameters", "parameters that are JSON null", { parameters: "null" }],
  ["PH004", "parameters", "parameters of more than 64 KiB", { parameters: { text: "x".repeat(65_536) } }],
  ["PH004", "parameters", "parameters nested 11 levels deep", { parameters: nested(11) }],
  [
    "PH004",
    "parameters",
    "arrays nested too deep",
    { parameters: `{"a": ${"[".repeat(11)}1${"]".repeat(11)}}` },
  ],
  ["PH004", "parameters", "a key __proto__", { parameters: '{"a": [{"__proto__": 1}]}' }],
  ["PH004", "parameters", "a number larger than JavaScript's", { parameters: '{"a": [1, -1e309]}' }],
  ["PH004", "parameters", "a number smaller than JavaScript's", { parameters: '{"a": 1e-309}' }],
  [
    "PH004",
    "parameters",
    "numbers that would take a gigabyte as text",
    { parameters: `{"a": [${many(8000).map(() => "1e131071")}]}` },
  ],
  [
    "PH005",
    "headers",
    "a header of numbers that would take a gigabyte as text",
    { headers: `{"X-A": [${many(8000).map(() => "1e131071")}]}` },
  ],
  ["PH005", "headers", "headers that are no object", { headers: [] }],
  ["PH005", "headers", "a header off the allow-list", { headers: { Bcc: "eve@x.test" } }],
  ["PH005", "headers", "a header of ours", { headers: { "X-Posthaste-Id": "1" } }],
  ["PH005", "headers", "a header name with a line break", { headers: { "X-A\r\nBcc": "eve@x.test" } }],
  ["PH005", "headers", "a header name that ends in a line break", { headers: { "X-A\n": "1" } }],
  ["PH005", "headers", "a line break in a header", { headers: { "X-A": "1\r\nBcc: eve@x.test" } }],
  ["PH005", "headers", "a line separator in a header", { headers: { "X-A": "1\u2028Bcc: eve@x.test" } }],
  ["PH005", "headers", "a header that is no string", { headers: { "X-A": 1 } }],
  ["PH005", "headers", "a header that is null", { headers: { "X-A": null } }],
  ["PH005", "headers", "a header that is too long", { headers: { "X-A": "x".repeat(901) } }],
  [
    "PH005",
    "headers",
    "headers of more than 8 KiB",
    { headers: Object.fromEntries(many(10).map((_, n) => [`X-${n}`, "x".repeat(900)])) },
  ],
  ["PH006", "attachments", "attachments that are no array", { attachments: {} }],
  ["PH006", "attachments", "more than 20 attachments", { attachments: Array(21).fill(file) }],
  ["PH006", "attachments", "an attachment that is no object", { attachments: ["a.pdf"] }],
  ["PH006", "attachments", "an attachment with bytes", { attachments: attached({ content: "aGk=" }) }],
  ["PH006", "attachments", "an attachment with a path", { attachments: attached({ path: "/etc/passwd" }) }],
  [
    "PH006",
    "attachments",
    "an attachment without storage_ref",
    { attachments: [{ filename: "a", content_type: "a/b" }] },
  ],
  ["PH006", "attachments", "a filename with a slash", { attachments: attached({ filename: "../a" }) }],
  [
    "PH006",
    "attachments",
    "a filename with a reordering mark",
    { attachments: attached({ filename: "a\u202efdp.exe" }) },
  ],
  [
    "PH006",
    "attachments",
    "a content_type with a line break",
    { attachments: attached({ content_type: "a/b\r\nX: y" }) },
  ],
  [
    "PH006",
    "attachments",
    "a storage_ref that is a URL",
    { attachments: attached({ storage_ref: "https://x.test/a" }) },
  ],
  [
    "PH006",
    "attachments",
    "a storage_ref that climbs",
    { attachments: attached({ storage_ref: "files:a/../../b" }) },
  ],
  [
    "PH006",
    "attachments",
    "a storage_ref that is too long",
    { attachments: attached({ storage_ref: `files:${"a".repeat(571)}` }) },
  ],
  [
    "PH006",
    "attachments",
    "a storage_ref with a hidden file",
    { attachments: attached({ storage_ref: "files:a/.ssh" }) },
  ],
  [
    "PH006",
    "attachments",
    "a content_type of parts",
    { attachments: attached({ content_type: "multipart/mixed" }) },
  ],
  [
    "PH006",
    "attachments",
    "a checksum that is no SHA-256",
    { attachments: attached({ checksum: "d41d8cd98f00b204e9800998ecf8427e" }) },
  ],
  ["PH006", "attachments", "a cid with a bracket", { attachments: attached({ cid: "a>b" }) }],
  ["PH006", "attachments", "a cid that is null", { attachments: attached({ cid: null }) }],
  ["PH006", "attachments", "an owned that is a string", { attachments: attached({ owned: "yes" }) }],
  ["PH007", "from_address", "a sender that cannot be read", { from_address: "shop" }],
  ["PH007", "from_address", "an empty sender", { from_address: "" }],
  ["PH007", "from_address", "a sender with a line break", { from_address: "Shop\r\nBcc: e <a@x.test>" }],
  ["PH007", "locale", "a locale that is no tag", { locale: "de_CH" }],
  ["PH007", "locale", "an empty locale", { locale: "" }],
  ["PH007", "transport", "a transport in capitals", { transport: "Bulk" }],
  ["PH007", "idempotency_key", "an empty key", { idempotency_key: "" }],
  ["PH007", "idempotency_key", "a key of 256 bytes", { idempotency_key: "ä".repeat(128) }],
  ["PH007", "reference", "a reference with a line break", { reference: "a\nb" }],
  ["PH007", "owner", "an empty owner", { owner: "" }],
  ["PH007", "max_attempts", "no attempt", { max_attempts: 0 }],
  ["PH007", "max_attempts", "101 attempts", { max_attempts: 101 }],
  ["PH008", "send_at", "an infinite send_at", { send_at: "infinity" }],
  ["PH008", "send_at", "an infinite expires_at", { expires_at: "infinity" }],
  ["PH008", "expires_at", "an expires_at that has passed", { expires_at: "2020-01-01" }],
  [
    "PH008",
    "expires_at",
    "an expires_at before send_at",
    { send_at: "2100-01-02", expires_at: "2100-01-01" },
  ],
  ["PH009", "recipients", "51 recipients", { recipients: many(40), cc: many(6), bcc: many(5) }],
  ["PH009", "recipients", "11 reply_to addresses", { reply_to: many(11) }],
];

const ways: [string, (on: Queryable, fields: Fields) => Promise<unknown>][] = [
  ["posthaste.enqueue()", enqueue],
  ["a plain insert", insert],
];

for (const [way, add] of ways) {
  suite(`${way} refuses`, () => {
    for (const [code, field, what, fields] of malformed) {
      test(`${what}: ${code}, field ${field}`, async () => {
        await transaction(producer, async (client) => {
          await client.query("savepoint before");
          const error = await errorOf(add(client, fields));
          assert.deepEqual(
            [error.code, error.column, error.detail],
            [code, field, `Field: ${field}`],
            error.message,
          );
          assert.ok(error.hint);
          assert.ok(
            !/x\.test|Failing row/.test(`${error.message}${error.detail}${error.hint}`),
            "no address in it",
          );
          await client.query("rollback to savepoint before");
          await add(client, {});
        });
      });
    }
  });
}

suite("the limits themselves", () => {
  const allowed: [string, Fields][] = [
    ["parameters of 64 KiB", { parameters: { text: "x".repeat(65_536 - 12) } }],
    ["parameters nested 10 levels deep", { parameters: nested(10) }],
    ["50 recipients and 10 reply_to addresses", { recipients: many(50), reply_to: many(10) }],
    [
      "a header of 900 characters",
      { headers: { "X-A": "ä".repeat(900), "list-unsubscribe": "<https://x.test>" } },
    ],
    ["20 attachments", { attachments: Array(20).fill({ ...file, cid: "logo@x.test", owned: true }) }],
    ["100 attempts", { max_attempts: 100 }],
    ["a template in folders", { template: "billing/2026/invoice_1" }],
    [
      "keys of 255 bytes",
      { idempotency_key: "k".repeat(255), reference: "r".repeat(255), owner: "o".repeat(255) },
    ],
    ["a long locale", { locale: "zh-Hant-TW" }],
  ];
  for (const [what, fields] of allowed) {
    test(`${what} can be enqueued`, async () => {
      assert.equal((await mail(database.pool, await enqueue(producer, fields))).status, "PENDING");
    });
  }

  test("a priority outside of a smallint is refused by name", async () => {
    const error = await errorOf(enqueue(producer, { priority: 32_768 }));
    assert.deepEqual([error.code, error.column], ["PH007", "priority"]);
  });

  test("an address never shows in the error of a strict session", async () => {
    const strict = database.as("posthaste_producer", { "posthaste.strict": "on" });
    for (const [line, fields] of Object.entries({
      recipients: { recipients: ["eve x@x.test"] },
      cc: { cc: ["eve@@x.test"] },
      reply_to: { reply_to: ["eve"] },
    })) {
      const error = await errorOf(enqueue(strict, fields));
      assert.deepEqual([error.code, error.column], ["PH010", line]);
      assert.ok(!`${error.message}${error.detail}${error.hint}`.includes("eve"));
    }
  });
});
