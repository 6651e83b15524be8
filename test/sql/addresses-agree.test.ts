import assert from "node:assert/strict";
import { test } from "node:test";
import { domainToASCII } from "node:url";
import fc from "fast-check";
import { parseMailbox } from "../../src/message/addresses.ts";
import { createTestDatabase } from "../database.ts";

const database = await createTestDatabase();

// Parts that make addresses of every kind, good and bad, far more often than random text would.
const word = fc.oneof(
  fc.constantFrom(
    "a",
    "ada",
    "x.y",
    "a+b",
    "zoë",
    "用户",
    "-",
    ".",
    "..",
    "@",
    "",
    " ",
    "1",
    "test",
    "xn--a",
    "_",
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: fc.constantFrom("a", "ä", "b", "."), minLength: 40, maxLength: 80 }),
);
const domain = fc.oneof(
  fc.constantFrom(
    "x.test",
    "X.Test",
    "a-b.example",
    "bücher.example",
    "1.2",
    "[127.0.0.1]",
    "x。test",
    "localhost",
  ),
  fc.tuple(word, fc.constantFrom(".test", ".example", ".1", "", ".x_")).map((parts) => parts.join("")),
);
const address = fc.tuple(word, domain).map(([local, host]) => `${local}@${host}`);
const name = fc.oneof(
  fc.constantFrom('"A, B" ', "Ada ", "Ada", '"', "", "\u200c"),
  fc.string({ maxLength: 10 }),
);
const mailbox = fc.oneof(
  address,
  fc.tuple(name, address).map(([before, inside]) => `${before}<${inside}>`),
  fc.tuple(word, address, word).map((parts) => parts.join("")),
);

/** Only a lone surrogate and NUL cannot be stored at all. */
const storable = (text: string) => text.isWellFormed() && !text.includes("\0");

test("what SQL accepts the parser of the worker reads, with the same bare address, unless IDNA forbids its domain", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(mailbox.filter(storable), { minLength: 100, maxLength: 200 }),
      async (texts) => {
        for (const { text, error, bare } of await judged(texts)) {
          if (error !== null) continue;
          accepted += 1;
          const read = parseMailbox(text);
          if (read) {
            assert.equal(read.address, bare, text);
            continue;
          }
          const host = bare.slice(bare.indexOf("@") + 1);
          const wire = domainToASCII(host);
          assert.ok(/[^ -~]/.test(host), `${JSON.stringify(text)} is ASCII and refused by the parser`);
          assert.ok(
            wire === "" ||
              bare.indexOf("@") + wire.length > 253 ||
              !wire.split(".").every((label) => HOST_LABEL.test(label)) ||
              /\.\d+$/.test(wire),
            `${JSON.stringify(text)} becomes ${wire}`,
          );
        }
      },
    ),
    { numRuns: 60 },
  );
  assert.ok(accepted > 500, `${accepted} were accepted`);
});

test("what the parser refuses SQL has refused, for ASCII addresses", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        mailbox.filter((text) => /^[\x01-\x7e]*$/.test(text)),
        { minLength: 100, maxLength: 200 },
      ),
      async (texts) => {
        for (const { text, error } of await judged(texts)) {
          if (parseMailbox(text)) continue;
          refused += 1;
          assert.notEqual(error, null, JSON.stringify(text));
        }
      },
    ),
    { numRuns: 30 },
  );
  assert.ok(refused > 500);
});

test("what SQL refuses the parser refuses too, but for what it takes more strictly on purpose", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(mailbox.filter(storable), { minLength: 100, maxLength: 200 }),
      async (texts) => {
        for (const { text, error } of await judged(texts)) {
          if (error === null || !parseMailbox(text)) continue;
          assert.match(error, STRICTER, JSON.stringify(text));
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** Names that other programs would misread, hosts that only a configured sender may have, invisible and doubtful characters. */
const STRICTER =
  /its name contains|its quoted name|the domain has no dot|invisible|control character|character that is not allowed there|longer than 254 octets|longer than 500|angle brackets|63 characters/;

const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

async function judged(
  texts: readonly string[],
): Promise<{ text: string; error: string | null; bare: string }[]> {
  return database.query(
    "select t.text, posthaste_private.address_error(t.text) as error, posthaste_private.bare_address(t.text) as bare from unnest($1::text[]) t(text)",
    [texts],
  );
}
