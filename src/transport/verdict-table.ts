import type { ErrorCode } from "../errors.ts";
import {
  type Asks,
  anything,
  both,
  code,
  deniesRelay,
  detail,
  outOfStep,
  permanent,
  soft,
  tooLarge,
  tooMany,
  transient,
} from "./replies.ts";
import type { Failure, Phase } from "./report.ts";

/** What a failed send is judged by. */
export interface Case extends Failure {
  readonly phase: Phase;
  /** The final dot was, or may have been, written. */
  readonly handedOver: boolean;
}

/** What a failure means for the mail as a whole. */
export interface Meaning {
  readonly class: "HOST" | "CONFIG" | "MESSAGE" | "UNKNOWN";
  readonly outcome: "retry" | "failed" | "unknown";
  /** `unproven`: an outage or this mail? Given back unless the database has evidence that it is the mail. */
  readonly refund: boolean | "unproven";
  readonly breaker: "none" | "count" | "open" | "close";
  readonly errorCode: ErrorCode | null;
}

/** One row: where, what, and what it means. */
export interface Row extends Meaning {
  readonly title: string;
  readonly when: (at: Case) => boolean;
}

// biome-ignore format: five columns, read downwards
const [HOST, SICK, MIDWAY, CONFIG, SENDER, LATER, BUSY, NEVER, LARGE, UTF8, UNKNOWN, OURS] = [
  meaning("HOST",    "retry",   true,       "count", "transport_unavailable"),
  meaning("HOST",    "retry",   true,       "open",  "transport_unavailable"),
  meaning("HOST",    "retry",   "unproven", "count", "transport_unavailable"),
  meaning("CONFIG",  "retry",   true,       "open",  "transport_misconfigured"),
  meaning("CONFIG",  "retry",   true,       "none",  "transport_misconfigured"), // one wrong sender must not stop the others
  meaning("MESSAGE", "retry",   false,      "close", "message_deferred"),
  meaning("MESSAGE", "retry",   false,      "count", "message_deferred"),
  meaning("MESSAGE", "failed",  false,      "close", "message_refused"),
  meaning("MESSAGE", "failed",  false,      "close", "message_too_large"),
  meaning("MESSAGE", "failed",  false,      "close", "smtputf8_unsupported"),
  meaning("UNKNOWN", "unknown", false,      "none",  "outcome_unknown"),
  meaning("HOST",    "retry",   true,       "none",  null), // nobody's fault out there: the mail goes back as it was
] as const;

/**
 * What a failure means for a mail that nobody got: the first row that fits. (Recipients refused one by one are the table
 * below.) HOST and CONFIG are about everybody's mail, MESSAGE about this one, UNKNOWN is after the dot.
 */
// biome-ignore format: a table
export const FAILURES: readonly Row[] = [
  // After the dot only a reply says anything.
  reply("final_dot", "421",                    code(421),                          MIDWAY),
  reply("final_dot", "mailbox full",           detail("2.2"),                      LATER),
  reply("final_dot", "4xx",                    transient,                          LATER),
  reply("final_dot", "552, x.3.4: too large",  tooLarge,                           LARGE),
  reply("final_dot", "500-504: out of step",   outOfStep,                          LATER),
  reply("final_dot", "5xx: content, policy",   permanent,                          NEVER),
  row("handed over, no reply",                 (at) => at.handedOver,              UNKNOWN),
  // Decided on this side.
  row("the hand-over was not granted",         (at) => at.kind === "gate",         OURS),
  row("aborted",                               (at) => at.kind === "aborted",      OURS),
  row("larger than SIZE",                      (at) => at.kind === "too_large",    LARGE),
  row("SMTPUTF8 needed, not offered",          (at) => at.kind === "smtputf8",     UTF8),
  // Before the first command.
  row("DNS",                                   (at) => at.kind === "dns",          HOST),
  row("greeting: 5xx",                         refusesService,                     SICK),
  reply("connect",   "greeting, EHLO",         anything,                           HOST),
  row("TLS: certificate, not offered, clear",  needsTlsSetUp,                      CONFIG),
  row("TLS: 4xx, handshake",                   (at) => at.kind === "tls",          HOST),
  row("AUTH: 4xx",                             (at) => at.kind === "auth" && transient(at.reply), HOST),
  row("AUTH: 5xx, or not offered",             (at) => at.kind === "auth",         CONFIG),
  // From MAIL to the body.
  row("421",                                   (at) => code(421)(at.reply),        MIDWAY),
  row("530",                                   (at) => code(530)(at.reply),        CONFIG),
  reply("mail",      "552, 5.3.4: too large",  tooLarge,                           LARGE),
  reply("mail",      "5.1.7, 5.1.8: sender",   both(permanent, detail("1.7", "1.8")), NEVER),
  reply("mail",      "504, 555: parameter",    code(504, 555),                     NEVER),
  reply("mail",      "500-503: out of step",   outOfStep,                          LATER),
  reply("mail",      "5xx: sender not allowed", permanent,                         SENDER),
  reply("mail",      "4.3.x, 4.7.x: disk, rate", both(transient, detail("3", "7")), HOST),
  reply("mail",      "4xx",                    transient,                          BUSY),
  reply("data",      "4.3.1: disk",            both(transient, detail("3.1")),     MIDWAY),
  reply("data",      "4xx",                    transient,                          LATER),
  reply("data",      "552, 5.3.4: too large",  tooLarge,                           LARGE),
  reply("data",      "500-504: out of step",   outOfStep,                          LATER),
  reply("data",      "5xx",                    permanent,                          NEVER),
  row("close, reset, timeout, nonsense",       isMidway,                           MIDWAY),
  row("close, reset, timeout before MAIL",     () => true,                         HOST),
];

/** What one row says about one recipient. */
export interface RecipientRow {
  readonly title: string;
  readonly asks: Asks;
  readonly fate: "refused" | "deferred";
  /** Least pause in seconds where the server names none. */
  readonly pause: number | null;
  /** The row counts up to this attempt only. */
  readonly untilAttempt: number;
}

/** Replies to RCPT TO, one by one: the first row that fits. */
// biome-ignore format: a table
export const RECIPIENTS: readonly RecipientRow[] = [
  recipient("452 4.5.3, 552 5.5.3: too many",    tooMany,                               "deferred", 10),
  recipient("452 4.2.2, 552 5.2.2: full",        both(code(452, 552), detail("2.2")),   "deferred", 3600),
  recipient("4xx, greylisting",                  transient,                             "deferred", 60),
  recipient("relay denied",                      deniesRelay,                           "deferred", 60),
  recipient("503: out of step",                  code(503),                             "deferred", null),
  recipient("550 5.7.1, or asks to come again",  soft,                                  "deferred", 900, 2),
  recipient("5xx",                               anything,                              "refused",  null),
];

function meaning(
  ...[about, outcome, refund, breaker, errorCode]: [
    Meaning["class"],
    Meaning["outcome"],
    Meaning["refund"],
    Meaning["breaker"],
    Meaning["errorCode"],
  ]
): Meaning {
  return { class: about, outcome, refund, breaker, errorCode };
}

function row(title: string, when: Row["when"], what: Meaning): Row {
  return { title, when, ...what };
}

/** A reply of the server in this phase. */
function reply(phase: Phase, title: string, asks: Asks, what: Meaning): Row {
  const when = (at: Case) => at.kind === "reply" && at.phase === phase && asks(at.reply);
  return { title: `${phase}: ${title}`, when, ...what };
}

function recipient(
  title: string,
  asks: Asks,
  fate: RecipientRow["fate"],
  pause: number | null,
  untilAttempt = Infinity,
): RecipientRow {
  return { title, asks, fate, pause, untilAttempt };
}

/** RFC 5321 3.1: such a greeting says that there is no mail service, also where it is about us (blocklists). */
function refusesService(at: Case): boolean {
  return at.code === "EGREETING" && permanent(at.reply);
}

function needsTlsSetUp(at: Case): boolean {
  return at.kind === "tls" && (at.code === "ECERTIFICATE" || at.code === "ECLEARTEXT" || permanent(at.reply));
}

function isMidway(at: Case): boolean {
  return at.phase === "mail" || at.phase === "rcpt" || at.phase === "data";
}
