import fc from "fast-check";

/** A mailbox that no mail asks for: whoever mails it was led to. */
export const VICTIM = "victim@evil.example";

/** Characters of every general category of Unicode, and the ones that have led programs astray. */
const CATEGORIES = [
  ..."Lu:A Ll:ß Lt:ǅ Lm:ʰ Lo:用 Mn:\u0301 Mc:\u0903 Me:\u20dd Nd:٣ Nl:Ⅷ No:² Pc:‿ Pd:— Ps:( Pe:) Pi:« Pf:» Po:; Sm:+ Sc:€ Sk:^ So:😀".split(
    " ",
  ),
].map((entry) => entry.slice(3));
const SPECIAL = [
  ...[
    "\u00a0",
    "\u2028",
    "\u2029",
    "\u0085",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\u001b[2J",
    "\u0001",
    "\u007f",
    "\u009b",
    "\u202e",
  ],
  ...[
    "\u2066",
    "\u200f",
    "\u200c",
    "\u200d",
    "\ue000",
    "\ufeff",
    "\u{e0041}",
    "\u{10ffff}",
    "\u0378",
    "\u3002",
    "\uff20",
  ],
  ...[
    `\r\nBcc: ${VICTIM}`,
    `\nRCPT TO:<${VICTIM}>`,
    `,${VICTIM}`,
    `> , <${VICTIM}`,
    `"<${VICTIM}>`,
    "\r\n.\r\n",
    "\n.\n",
  ],
  ...[
    "<",
    ">",
    '"',
    "\\",
    "@",
    ",",
    ";",
    ":",
    "(",
    ")",
    "[",
    "]",
    "=?utf-8?q?=0d=0a?=",
    "%0d%0a",
    "{",
    "'",
    "--",
    "$1",
  ],
];
const LONE = ["\\ud800", "\\udfff", "\\ud83d x", "\\u0000"];

/** A short text of anything that can be stored as text. */
const wild = fc
  .array(
    fc.oneof(
      fc.constantFrom(...CATEGORIES),
      fc.constantFrom(...SPECIAL),
      fc.constantFrom("a", "b.c", "1", " ", "-", "shop"),
      fc.string({ unit: "binary", maxLength: 4 }).map((text) => text.replaceAll("\0", "").toWellFormed()),
    ),
    { maxLength: 7 },
  )
  .map((parts) => parts.join(""));
/** Now and then very long: as one word, and as many. */
const text = fc.oneof(
  { weight: 40, arbitrary: wild },
  {
    weight: 2,
    arbitrary: fc.constantFrom("x".repeat(998), "x ".repeat(3000), "ü".repeat(5000), "\u2028".repeat(2000)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("x".repeat(2_000_000), "\r\n".repeat(500_000), "😀".repeat(200_000)),
  },
);

const mailbox = fc.oneof(
  fc
    .tuple(text, fc.constantFrom("x.example", "bücher.example", "X.Example"))
    .map(([local, host]) => `${local}@${host}`),
  fc
    .tuple(text, fc.constantFrom("ada", "zoë", "用户"))
    .map(([name, local]) => `${name} <${local}@x.example>`),
  fc.tuple(text, fc.constant("ada")).map(([name]) => `"${name}" <ada@x.example>`),
  text.map((host) => `ada@${host}`),
  text,
);
const mailboxes = fc.oneof(
  { weight: 40, arbitrary: fc.array(fc.option(mailbox, { freq: 20 }), { maxLength: 4 }) },
  {
    weight: 3,
    arbitrary: fc.constant(`{${Array.from({ length: 52 }, (_, n) => `p${n}@x.example`).join(",")}}`),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "{{a@x.example,b@x.example},{c@x.example,d@x.example}}",
      "[7:8]={a@x.example,b@x.example}",
      "{}",
    ),
  },
  { weight: 1, arbitrary: fc.constant(`{${"a@x.example,".repeat(99_999)}a@x.example}`) },
);

/** JSON as it may be written: also such as PostgreSQL refuses. */
const json = fc.oneof(
  { weight: 30, arbitrary: fc.dictionary(wild, text, { maxKeys: 4 }).map((value) => JSON.stringify(value)) },
  { weight: 10, arbitrary: fc.jsonValue({ maxDepth: 14 }).map((value) => JSON.stringify(value)) },
  { weight: 5, arbitrary: fc.constantFrom(...LONE).map((half) => `{"t": "${half}"}`) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom("1e1000000", "1e131071", "-1e-16383", "9".repeat(400))
      .map((number) => `{"n": ${number}}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("1e131071", "1e-16383"), fc.constantFrom(100, 8_000))
      .map(([number, count]) => `{"n": [${Array(count).fill(number)}]}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(50, 5_000, 10_000)
      .map((depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(50, 10_000).map((depth) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`),
  },
);
const name = fc.constantFrom(
  "X-A",
  "x-b",
  "References",
  "In-Reply-To",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
);
const headers = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.dictionary(fc.oneof({ weight: 9, arbitrary: name }, wild), text, { maxKeys: 4 }),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("Bcc", "To", "Subject", "X-A\r\nBcc", "X-A: b\r\nBcc", "Content-Type")
      .map((key) => ({ [key]: VICTIM })),
  },
);
const attachments = fc.array(
  fc.record(
    {
      filename: fc.oneof(fc.constant("a.pdf"), text),
      content_type: fc.oneof(fc.constant("application/pdf"), text),
      storage_ref: fc.oneof(fc.constant("database:none"), text),
      cid: text,
    },
    { requiredKeys: ["filename", "content_type", "storage_ref"] },
  ),
  { maxLength: 3 },
);
const asJson = (value: unknown) => JSON.stringify(value);

/** One field of a request, by its name in posthaste.enqueue(). `parameters` hold what the subject and the text show. */
const FIELDS = {
  recipients: mailboxes,
  cc: mailboxes,
  bcc: mailboxes,
  reply_to: mailboxes,
  from_address: mailbox,
  parameters: fc.oneof(
    { weight: 3, arbitrary: fc.record({ subject: text, text }).map(asJson) },
    { weight: 1, arbitrary: json },
  ),
  headers: fc.oneof({ weight: 5, arbitrary: headers.map(asJson) }, { weight: 1, arbitrary: json }),
  attachments: fc.oneof({ weight: 3, arbitrary: attachments.map(asJson) }, { weight: 1, arbitrary: json }),
  locale: text,
  transport: text,
  idempotency_key: text,
  reference: text,
  owner: text,
  template: fc.oneof(fc.constantFrom("__proto__", "constructor", "../x"), text),
} as const;

/** A request with a few wild fields, which come often enough alone to be accepted. */
export const request: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .record(FIELDS, { requiredKeys: [] })
  .chain((all) =>
    fc
      .shuffledSubarray(Object.keys(all), {
        minLength: Math.min(1, Object.keys(all).length),
        maxLength: Math.min(2, Object.keys(all).length),
      })
      .map((keys) => Object.fromEntries(keys.map((key) => [key, all[key as keyof typeof all]]))),
  );
