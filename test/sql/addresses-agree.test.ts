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

/** Random addresses with both verdicts. Sampled, not shrunk: a failing text is short enough as it is. */
function judged(kind: fc.Arbitrary<string>) {
  return verdicts(fc.sample(kind.filter(storable), 10_000));
}

async function verdicts(texts: readonly string[]) {
  const rows: { text: string; error: string | null; bare: string }[] = await database.query(
    "select t.text, posthaste_private.address_error(t.text) as error, posthaste_private.bare_address(t.text) as bare from unnest($1::text[]) t(text)",
    [texts],
  );
  return rows.map((row) => ({ ...row, read: parseMailbox(row.text) }));
}

test("what SQL accepts the parser of the worker reads, with the same bare address, unless IDNA or Unicode forbids it", async () => {
  const accepted = (await judged(mailbox)).filter(({ error }) => error === null);
  assert.ok(accepted.length > 500, `${accepted.length} were accepted`);
  const different = accepted.filter(({ bare, read }) => (read ? read.address !== bare : !isUnknowable(bare)));
  assert.deepEqual(different.slice(0, 5), []);
});

test("what SQL refuses the parser refuses too, but for what SQL takes more strictly on purpose", async () => {
  const refused = (await judged(mailbox)).filter(({ error }) => error !== null);
  assert.ok(refused.length > 500);
  const different = refused.filter(({ error, read }) => read && !STRICTER.test(error ?? ""));
  assert.deepEqual(different.slice(0, 5), []);
});

test("no character of the basic plane is accepted in a local part that the parser refuses there", async () => {
  const texts = Array.from({ length: 0xffff }, (_, n) => `a${String.fromCharCode(n + 1)}b@x.test`).filter(
    storable,
  );
  const different = (await verdicts(texts)).filter(
    ({ error, read, bare }) => error === null && !read && !isUnknowable(bare),
  );
  assert.deepEqual(different.slice(0, 5), []);
});

/** What only tables of Unicode tell: whether a character is assigned, and what IDNA makes of a domain. */
function isUnknowable(bare: string): boolean {
  const at = bare.indexOf("@");
  const wire = domainToASCII(bare.slice(at + 1));
  const isHost = wire.split(".").every((label) => HOST_LABEL.test(label)) && !/\.\d+$/.test(wire);
  return (
    /\p{Cn}/u.test(bare) ||
    (/[^ -~]/.test(bare.slice(at)) && (!isHost || Buffer.byteLength(bare.slice(0, at)) + wire.length > 253))
  );
}

const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Names that other programs would misread, hosts that only a configured sender may have, invisible and doubtful characters. */
const STRICTER =
  /its name contains|its quoted name|the domain has no dot|invisible|control character|character that is not allowed there|longer than 254 octets|longer than 500|angle brackets|63 characters/;
