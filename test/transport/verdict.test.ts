import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ERROR_CODES } from "../../src/errors.ts";
import { failedReport, failure, parseReply, type SendReport } from "../../src/transport/report.ts";
import { judge } from "../../src/transport/verdict.ts";
import { FAILURES, RECIPIENTS } from "../../src/transport/verdict-table.ts";
import type { Script, SmtpServerOptions } from "../smtp-server.ts";
import { mail, serverAndTransport } from "./sending.ts";

const TIMES = { timeout: 20_000 };
const AUTH = (url: string) => `${url.replace("//", "//u:p@")}?tls.rejectUnauthorized=false`;
const DEAD = () => "smtp://127.0.0.1:1";

type Expected = [
  row: string,
  about: string,
  outcome: string,
  refund: boolean | "unproven",
  breaker: string,
  errorCode: string | null,
];
interface Dialogue {
  readonly script?: Script;
  readonly options?: SmtpServerOptions;
  readonly url?: (url: string) => string;
  readonly body?: string;
  readonly to?: string[];
  readonly gate?: "no";
  readonly abort?: boolean;
}

// The table of replies, row by row, each in a real dialogue.
// biome-ignore format: a table
const ROWS: [Dialogue, ...Expected][] = [
  [{ url: () => "smtp://nothing.invalid" },                      "DNS", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ url: DEAD },                                                "close, reset, timeout before MAIL", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ script: { greeting: "421 4.3.2 Busy" } },                   "connect: greeting, EHLO", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ script: { greeting: "450 4.7.0 Later" } },                  "connect: greeting, EHLO", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ script: { greeting: "554 5.7.1 Blocklisted" } },            "greeting: 5xx", "HOST", "retry", true, "open", "transport_unavailable"],
  [{ script: { ehlo: "550 5.0.0 No" } },                         "connect: greeting, EHLO", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ script: { ehlo: "421 4.3.2 No" } },                         "connect: greeting, EHLO", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ options: { startTls: true } },                              "TLS: certificate, not offered, clear", "CONFIG", "retry", true, "open", "transport_misconfigured"],
  [{ url: (url) => `${url}?requireTLS=true` },                   "TLS: certificate, not offered, clear", "CONFIG", "retry", true, "open", "transport_misconfigured"],
  [{ options: { startTls: true }, script: { starttls: "454 4.7.0 Later" } }, "TLS: 4xx, handshake", "HOST", "retry", true, "count", "transport_unavailable"],
  ...["535 5.7.8 No", "534 5.7.9 No", "538 5.7.11 No", "530 5.7.0 No", "504 5.5.4 No"].map((auth): [Dialogue, ...Expected] =>
    [{ url: AUTH, options: { login: "u:p" }, script: { auth } }, "AUTH: 5xx, or not offered", "CONFIG", "retry", true, "open", "transport_misconfigured"]),
  [{ url: AUTH },                                                "AUTH: 5xx, or not offered", "CONFIG", "retry", true, "open", "transport_misconfigured"],
  [{ url: AUTH, options: { login: "u:p" }, script: { auth: "454 4.7.0 Later" } }, "AUTH: 4xx", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ url: AUTH, options: { login: "u:p" }, script: { auth: "421 4.7.0 Later" } }, "AUTH: 4xx", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ url: AUTH, options: { login: "u:p" }, script: { auth: { end: "close" } } }, "close, reset, timeout before MAIL", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ script: { mail: "530 5.7.0 Must issue STARTTLS" } },        "530", "CONFIG", "retry", true, "open", "transport_misconfigured"],
  [{ script: { mail: "553 5.7.1 Sender not owned" } },           "mail: 5xx: sender not allowed", "CONFIG", "retry", true, "none", "transport_misconfigured"],
  [{ script: { mail: "550 5.1.8 No such domain" } },             "mail: 5.1.7, 5.1.8: sender", "MESSAGE", "failed", false, "close", "message_refused"],
  [{ script: { mail: "552 5.3.4 Too big" } },                    "mail: 552, 5.3.4: too large", "MESSAGE", "failed", false, "close", "message_too_large"],
  [{ options: { size: 500 }, body: "x".repeat(600) },            "larger than SIZE", "MESSAGE", "failed", false, "close", "message_too_large"],
  [{ script: { mail: "555 5.5.4 Unknown parameter" } },          "mail: 504, 555: parameter", "MESSAGE", "failed", false, "close", "message_refused"],
  [{ script: { mail: "504 5.5.4 Unknown parameter" } },          "mail: 504, 555: parameter", "MESSAGE", "failed", false, "close", "message_refused"],
  [{ script: { mail: "503 5.5.1 Bad sequence" } },               "mail: 500-503: out of step", "MESSAGE", "retry", false, "close", "message_deferred"],
  [{ script: { mail: "452 4.3.1 Disk full" } },                  "mail: 4.3.x, 4.7.x: disk, rate", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ script: { mail: "450 4.7.0 Rate" } },                       "mail: 4.3.x, 4.7.x: disk, rate", "HOST", "retry", true, "count", "transport_unavailable"],
  [{ script: { mail: "451 4.1.8 Cannot look it up" } },          "mail: 4xx", "MESSAGE", "retry", false, "count", "message_deferred"],
  [{ script: { mail: "421 4.3.2 Bye" } },                        "421", "HOST", "retry", "unproven", "count", "transport_unavailable"],
  [{ script: { rcpt: "421 4.3.2 Bye" } },                        "421", "HOST", "retry", "unproven", "count", "transport_unavailable"],
  [{ script: { rcpt: "530 5.7.0 Log in first" } },               "530", "CONFIG", "retry", true, "open", "transport_misconfigured"],
  [{ to: ["zoë@x.test"] },                                       "SMTPUTF8 needed, not offered", "MESSAGE", "failed", false, "close", "smtputf8_unsupported"],
  [{ script: { data: "421 4.3.2 Bye" } },                        "421", "HOST", "retry", "unproven", "count", "transport_unavailable"],
  [{ script: { data: "451 4.5.1 Later" } },                      "data: 4xx", "MESSAGE", "retry", false, "close", "message_deferred"],
  [{ script: { data: "452 4.3.1 Disk full" } },                  "data: 4.3.1: disk", "HOST", "retry", "unproven", "count", "transport_unavailable"],
  [{ script: { data: "503 5.5.1 Bad sequence" } },               "data: 500-504: out of step", "MESSAGE", "retry", false, "close", "message_deferred"],
  [{ script: { data: "552 5.3.4 Too big" } },                    "data: 552, 5.3.4: too large", "MESSAGE", "failed", false, "close", "message_too_large"],
  [{ script: { data: "554 5.7.1 Refused" } },                    "data: 5xx", "MESSAGE", "failed", false, "close", "message_refused"],
  [{ script: { rcpt: { end: "reset" } } },                       "close, reset, timeout, nonsense", "HOST", "retry", "unproven", "count", "transport_unavailable"],
  [{ script: { data: { end: "close" } } },                       "close, reset, timeout, nonsense", "HOST", "retry", "unproven", "count", "transport_unavailable"],
  [{ script: { dot: "451 4.7.1 Greylisted" } },                  "final_dot: 4xx", "MESSAGE", "retry", false, "close", "message_deferred"],
  [{ script: { dot: "421 4.3.2 Bye" } },                         "final_dot: 421", "HOST", "retry", "unproven", "count", "transport_unavailable"],
  [{ script: { dot: "552 5.3.4 Too big" } },                     "final_dot: 552, x.3.4: too large", "MESSAGE", "failed", false, "close", "message_too_large"],
  [{ script: { dot: "552 5.2.2 Mailbox full" } },                "final_dot: mailbox full", "MESSAGE", "retry", false, "close", "message_deferred"],
  [{ script: { dot: "503 5.5.1 What" } },                        "final_dot: 500-504: out of step", "MESSAGE", "retry", false, "close", "message_deferred"],
  [{ script: { dot: "554 5.7.1 Spam" } },                        "final_dot: 5xx: content, policy", "MESSAGE", "failed", false, "close", "message_refused"],
  [{ script: { dot: { keep: true, end: "close" } } },            "handed over, no reply", "UNKNOWN", "unknown", false, "none", "outcome_unknown"],
  [{ script: { dot: { keep: true, end: "reset" } } },            "handed over, no reply", "UNKNOWN", "unknown", false, "none", "outcome_unknown"],
  [{ script: { dot: { keep: true, raw: "250 Ok", end: "close" } } }, "handed over, no reply", "UNKNOWN", "unknown", false, "none", "outcome_unknown"],
  [{ script: { dot: "354 Go on" } },                             "handed over, no reply", "UNKNOWN", "unknown", false, "none", "outcome_unknown"],
  [{ gate: "no" },                                               "the hand-over was not granted", "HOST", "retry", true, "none", null],
  [{ abort: true },                                              "aborted", "HOST", "retry", true, "none", null],
];

suite("the table of replies", TIMES, () => {
  for (const [dialogue, row, ...expected] of ROWS) {
    const name = JSON.stringify({
      ...dialogue,
      body: dialogue.body?.length,
      url: dialogue.url?.("smtp://h:25"),
    });
    test(`has ${expected[0]} for ${row} in ${name}`, async (t) => {
      const { transport } = await serverAndTransport(
        t,
        { ...dialogue.options, script: dialogue.script ?? {} },
        { url: dialogue.url ?? String },
      );
      const request = mail("1", {
        ...(dialogue.body ? { body: dialogue.body } : {}),
        ...(dialogue.to ? { to: dialogue.to } : {}),
        ...(dialogue.gate ? { gate: async () => ({ granted: false }) as const } : {}),
        ...(dialogue.abort ? { signal: AbortSignal.abort() } : {}),
      });
      const report = await transport.send(request);
      assert.ok(report.failure);
      assert.equal(FAILURES.find(({ when }) => when({ ...report, ...report.failure! }))?.title, row);
      const verdict = judge(report);
      assert.deepEqual(
        [verdict.class, verdict.outcome, verdict.refund, verdict.breaker, verdict.errorCode],
        expected,
      );
      assert.ok(verdict.message.startsWith(`${report.phase}: `));
      if (report.failure.reply?.code)
        assert.match(verdict.message, new RegExp(`^\\w+: ${report.failure.reply.code}`));
    });
  }

  test("has no row that no dialogue reaches", () => {
    const reached = new Set(ROWS.map(([, row]) => row));
    assert.deepEqual(
      FAILURES.map(({ title }) => title).filter((title) => !reached.has(title)),
      [],
    );
  });

  test("names only codes of the registry", () => {
    for (const { errorCode } of FAILURES) assert.ok(errorCode === null || errorCode in ERROR_CODES);
  });
});

/** A report of one recipient refused with this reply. */
function refusal(text: string): SendReport {
  const reply = parseReply(text);
  return {
    ...failedReport("rcpt", { ...failure("reply", "EENVELOPE", "refused"), reply }),
    rejected: [{ address: "a@x.test", reply }],
  };
}

suite("a refused recipient", () => {
  // biome-ignore format: a table
  const rows: [string, string, "retry" | "failed", number | null, number?][] = [
    ["450 4.2.0 Greylisted",                          "4xx, greylisting",                "retry",  60],
    ["451 4.7.1 Try again in 5 minutes",              "4xx, greylisting",                "retry",  300],
    ["450 4.7.1 Greylisted for 00:04:58",             "4xx, greylisting",                "retry",  298],
    ["450 4.7.1 Wait 2 s",                            "4xx, greylisting",                "retry",  10],
    ["450 4.7.1 Retry in 12 hours",                   "4xx, greylisting",                "retry",  3600],
    ["550 5.7.1 Policy",                              "550 5.7.1, or asks to come again", "retry", 900],
    ["550 5.7.1 Policy",                              "550 5.7.1, or asks to come again", "retry", 900, 2],
    ["550 5.7.1 Policy",                              "5xx",                             "failed", null, 3],
    ["554 Temporarily rejected",                      "550 5.7.1, or asks to come again", "retry", 900],
    ["550 5.1.1 Unknown",                             "5xx",                             "failed", null],
    ["551 5.1.6 Moved",                               "5xx",                             "failed", null],
    ["553 5.1.3 Syntax",                              "5xx",                             "failed", null],
    ["550 5.2.1 Disabled",                            "5xx",                             "failed", null],
    ["501 5.1.3 Syntax",                              "5xx",                             "failed", null],
    ["552 5.2.2 Mailbox full",                        "452 4.2.2, 552 5.2.2: full",      "retry",  3600],
    ["452 4.2.2 Mailbox full",                        "452 4.2.2, 552 5.2.2: full",      "retry",  3600],
    ["452 4.5.3 Too many",                            "452 4.5.3, 552 5.5.3: too many",  "retry",  10],
    ["552 5.5.3 Too many",                            "452 4.5.3, 552 5.5.3: too many",  "retry",  10],
    ["503 5.5.1 Bad sequence",                        "503: out of step",                "retry",  null],
    ["554 5.7.1 <…@x.test>: Relay access denied",     "relay denied",                    "retry",  60],
  ];
  for (const [text, row, outcome, wait, attempt] of rows) {
    test(`with ${text}${attempt ? ` at attempt ${attempt}` : ""} makes the mail: ${outcome}`, () => {
      const report = refusal(text);
      const { reply } = report.rejected[0]!;
      const found = RECIPIENTS.find(
        ({ asks, untilAttempt }) => (attempt ?? 1) <= untilAttempt && asks(reply),
      );
      assert.equal(found?.title, row);
      const verdict = judge(report, attempt);
      assert.deepEqual([verdict.class, verdict.outcome, verdict.waitSeconds], ["RECIPIENT", outcome, wait]);
    });
  }

  test("whose relaying is denied counts for the breaker: after a few in a row it is us", () => {
    const verdict = judge(refusal("554 5.7.1 Relay access denied"));
    assert.deepEqual([verdict.refund, verdict.breaker], ["unproven", "count"]);
  });
});

suite("a reply", () => {
  test("is read over its lines, and its codes are kept apart from its text", () => {
    assert.deepEqual(parseReply("550-5.7.1 Go\n550 5.7.1 away"), {
      code: 550,
      enhanced: "5.7.1",
      text: "Go away",
    });
    assert.deepEqual(parseReply("250 Ok"), { code: 250, enhanced: null, text: "Ok" });
    assert.deepEqual(parseReply("250"), { code: 250, enhanced: null, text: "" });
    assert.deepEqual(parseReply("HTTP/1.1 200"), { code: null, enhanced: null, text: "HTTP/1.1 200" });
  });

  test("is believed by its basic code where the enhanced one has another class", () => {
    assert.deepEqual(parseReply("550 4.7.1 Later?"), { code: 550, enhanced: "5.0.0", text: "Later?" });
  });

  test("of any length makes a message of at most 2,000 characters", () => {
    const reply = parseReply(`451 4.0.0 ${"\u{1f600}".repeat(5000)}`);
    assert.ok(reply.text.length <= 500);
    const verdict = judge(
      failedReport("mail", { ...failure("reply", "EENVELOPE", "x".repeat(9000)), reply }),
    );
    assert.ok(verdict.message.length <= 2000);
    assert.ok(verdict.message.isWellFormed());
  });
});

suite("a probe's report", () => {
  test("that found the server ready claims nothing about mail", () => {
    const verdict = judge({ ...failedReport("auth", failure("aborted", "", "")), failure: null });
    assert.deepEqual([verdict.class, verdict.outcome, verdict.errorCode], ["OK", "retry", null]);
  });
});
