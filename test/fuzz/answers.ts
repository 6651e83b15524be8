import fc from "fast-check";

/** Where a hostile server answers. */
export const POINTS = [
  "greeting",
  "ehlo",
  "starttls",
  "auth",
  "mail",
  "rcpt",
  "data",
  "dot",
  "rset",
  "quit",
] as const;
export type Point = (typeof POINTS)[number];

/** What a hostile server writes at one point, and how. */
export interface Answer {
  /** For a report of what was tried. */
  readonly kind: string;
  readonly octets: Buffer;
  /** Write octet for octet, each in a packet of its own. */
  readonly split?: boolean;
  /** Write it again and again for as long as the client reads. */
  readonly endless?: boolean;
  /** Then end the connection: both sides, by a reset, or this side only. */
  readonly end?: "close" | "reset" | "half" | undefined;
}

const TEXTS = [
  "",
  " Ok",
  " 4.2.1 Later",
  " 5.1.1 No",
  "-",
  " \u001b]0;owned\u0007\u001b[2J",
  " \0\0",
  " try again in 3 seconds",
  " zoë\u202e",
];
const CAPABILITIES = [
  ...[
    "SIZE 0",
    "SIZE 1",
    "SIZE 99999999999999999999999",
    "SIZE -5",
    "SIZE x",
    "PIPELINING",
    "STARTTLS",
    "8BITMIME",
  ],
  ...[
    "AUTH",
    "AUTH \u0000\u0001",
    "AUTH=PLAIN LOGIN",
    "AUTH XOAUTH2 CRAM-MD5",
    "SMTPUTF8",
    "DSN",
    "REQUIRETLS",
  ],
  ...["CHUNKING", `X-${"A".repeat(2000)}`, "\u001b[31m", "SIZE\tPIPELINING"],
];

const latin1 = (text: string) => Buffer.from(text, "latin1");
const code = fc.integer({ min: 0, max: 999 }).map((number) => String(number).padStart(3, "0"));
const ending = fc.constantFrom("\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n", "");
const end = fc.constantFrom(undefined, undefined, undefined, "close", "reset", "half");
const octets = fc.uint8Array({ minLength: 1, maxLength: 400 }).map((array) => Buffer.from(array));

/** Single replies of every code. */
const reply = fc
  .tuple(code, fc.constantFrom(...TEXTS), ending, fc.boolean(), end)
  .map(([number, text, line, split, over]) => ({
    ...{ kind: `code ${number}`, octets: latin1(`${number}${text}${line}`), split, end: over },
  }));

const mixed = fc
  .tuple(
    fc.array(fc.tuple(code, fc.constantFrom("-", " ", "")), { minLength: 2, maxLength: 8 }),
    fc.boolean(),
  )
  .map(([lines, split]) => ({
    ...{
      kind: "several lines",
      octets: latin1(lines.map((parts) => `${parts.join("")}x\r\n`).join("")),
      split,
    },
  }));

const early = fc
  .array(
    fc.constantFrom(
      "220 hi",
      "250 Ok",
      "354 Go",
      "550 No",
      "421 Bye",
      "250-a\r\n250 b",
      "235 In",
      "334 VXNlcm5hbWU6",
    ),
    {
      minLength: 2,
      maxLength: 8,
    },
  )
  .map((replies) => ({ kind: "early replies", octets: latin1(replies.map((one) => `${one}\r\n`).join("")) }));

const absurd = fc
  .uniqueArray(fc.constantFrom(...CAPABILITIES), { minLength: 1, maxLength: 8 })
  .map((offers) => ({
    kind: "capabilities",
    octets: latin1(
      ["x", ...offers].map((one, at) => `250${at < offers.length ? "-" : " "}${one}\r\n`).join(""),
    ),
  }));

const noise = fc.tuple(octets, ending, fc.boolean(), end).map(([bytes, line, split, over]) => ({
  ...{ kind: "random octets", octets: Buffer.concat([bytes, latin1(line)]), split, end: over },
}));

const long = fc.constantFrom("2", "\0", "250 ", "550 ", "9").map((one) => ({
  kind: "10 MB without a line end",
  octets: Buffer.alloc(10 * 1024 * 1024, one),
}));

const endless = fc
  .constantFrom(
    "\r\n",
    "\n",
    "250-more\r\n",
    "550-5.1.1 more\r\n",
    " \r\n",
    "x",
    "250",
    "\0\r\n",
    "250-a\r\n550-b\r\n",
  )
  .map((one) => ({ kind: "endless", octets: latin1(one.repeat(4096)), endless: true }));

/** One answer of the wrong kind. */
export const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 10, arbitrary: reply },
  { weight: 3, arbitrary: mixed },
  { weight: 4, arbitrary: noise },
  { weight: 2, arbitrary: absurd },
  { weight: 2, arbitrary: early },
  { weight: 1, arbitrary: long },
  { weight: 1, arbitrary: endless },
);

/** The answer that is one whole reply of a code. */
export function plainReply(number: number): Answer {
  const text = String(number).padStart(3, "0");
  return { kind: `code ${text}`, octets: latin1(`${text} said\r\n`) };
}
