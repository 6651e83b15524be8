import type { Timeouts } from "../config.ts";
import type { Mask } from "./mask.ts";
import { type Failure, failure, type Phase, parseReply, type Reply } from "./report.ts";

/** Octets that a server may send before one reply is whole. RFC 5321 4.5.3.1.5 gives a line 512. */
const LONGEST_REPLY = 64 * 1024;

/**
 * What is being said on one connection, read from the transaction log that nodemailer hands to its logger: one entry
 * for each command and each whole reply, in order, before it acts on them. Nothing else tells which command is still
 * unanswered when a connection breaks, also with PIPELINING, where several are.
 *
 * One clock runs at a time, and starts anew with each reply: a server gets the whole time for each answer, but cannot
 * stretch it by sending an octet now and then. Nor can it fill the memory: nodemailer keeps every empty line for a later
 * turn, so what comes is counted here. A reply that SMTP does not have at that place ends the session, because nodemailer
 * goes by the first octet alone: "2" and then anything would be a yes.
 */
export class Dialogue {
  /** How far it has got. */
  phase: Phase = "connect";
  /** The latest reply to EHLO, as sent. */
  ehlo = "";
  /** The reply to MAIL FROM of the transaction under way. */
  mail: Reply | null = null;
  /** The replies to RCPT TO, in the order of the recipients. */
  readonly rcpt: Reply[] = [];
  /** The reply to DATA. */
  data: Reply | null = null;
  /** The logger for nodemailer. */
  readonly logger = {
    trace: ignore,
    debug: (entry: { tnx?: string }, line: unknown) => {
      if (entry.tnx === "client") this.#said(String(line));
      else if (entry.tnx === "server") this.#heard(String(line));
    },
    info: ignore,
    warn: ignore,
    error: ignore,
    fatal: ignore,
  };
  readonly #timeouts: Timeouts;
  readonly #mask: Mask;
  readonly #on: { fail(reason: Failure): void; said(): void };
  readonly #unanswered: string[] = [];
  #clock: NodeJS.Timeout | undefined;
  #closing = false;
  #ended = false;
  /** Octets since the last reply. */
  #octets = 0;

  /** `mask` is for what the server says, `fail` is told what ends the session, `said` that a command goes out. */
  constructor(timeouts: Timeouts, mask: Mask, on: { fail(reason: Failure): void; said(): void }) {
    this.#timeouts = timeouts;
    this.#mask = mask;
    this.#on = on;
  }

  /** So many octets came, and nodemailer has read them. */
  received(octets: number): void {
    this.#octets += octets;
    // Commands that were sent together are answered together.
    if (this.#octets <= LONGEST_REPLY * Math.max(1, this.#unanswered.length)) return;
    this.#on.fail(
      failure("protocol", "EPROTOCOL", `The server said ${LONGEST_REPLY} octets and no whole reply.`),
    );
  }

  /** Starts the clock of a step that is no command. */
  start(limit: "connect" | "greeting" | "command" | "finalReply", what: string): void {
    clearTimeout(this.#clock);
    if (this.#ended) return;
    const milliseconds = this.#timeouts[limit];
    this.#clock = setTimeout(() => {
      this.#on.fail(failure("timeout", "ETIMEDOUT", `Timeout: ${what} within ${milliseconds} ms.`));
    }, milliseconds);
  }

  /** Stops the clock. */
  stop(): void {
    clearTimeout(this.#clock);
  }

  /** The connection is gone: no clock is started any more, whatever is still being called back. */
  end(): void {
    this.#ended = true;
    this.stop();
  }

  /** Forgets the transaction before. */
  begin(): void {
    this.phase = "mail";
    this.mail = null;
    this.data = null;
    this.rcpt.length = 0;
  }

  #said(line: string): void {
    // After a 421 nodemailer may still write a command; it is not how far the server let it get.
    if (this.#closing) return;
    this.#on.said();
    const verb = /^(EHLO|HELO|STARTTLS|AUTH|MAIL|RCPT|DATA|RSET|QUIT)(?=[ \r]|$)/.exec(line)?.[1] ?? "";
    this.#unanswered.push(verb);
    if (this.#unanswered.length === 1) this.#await(verb);
  }

  #heard(line: string): void {
    this.#octets = 0;
    const verb = this.#unanswered.shift();
    if (!isReply(line, verb === "DATA" || verb === "AUTH" || verb === "")) {
      const said = parseReply(line, this.#mask).text || "nothing to read";
      this.#on.fail(failure("protocol", "EPROTOCOL", `The server answered with no reply of SMTP: ${said}`));
      return;
    }
    this.#closing ||= line.startsWith("421");
    if (verb === "EHLO") this.ehlo = line;
    else if (verb === "MAIL") this.mail = parseReply(line, this.#mask);
    else if (verb === "RCPT") this.rcpt.push(parseReply(line, this.#mask));
    else if (verb === "DATA") this.data = parseReply(line, this.#mask);
    const [next] = this.#unanswered;
    if (next !== undefined && !this.#closing) this.#await(next);
    // Answered "go ahead": the handshake follows, which is no command.
    else if (verb === "STARTTLS" && line.startsWith("2")) this.start("connect", "no TLS handshake");
    else this.stop();
  }

  #await(verb: string): void {
    if (verb === "EHLO" || verb === "HELO") this.phase = "connect";
    else if (verb === "STARTTLS") this.phase = "tls";
    else if (verb === "AUTH") this.phase = "auth";
    else if (verb === "MAIL") this.phase = "mail";
    else if (verb === "RCPT") this.phase = "rcpt";
    else if (verb === "DATA") this.phase = "data";
    this.start("command", `no reply to ${verb || "the credentials"}`);
  }
}

/** Whether each line has a code of the same class, and one that may come there (RFC 5321 4.2.1). */
function isReply(said: string, goesOn: boolean): boolean {
  const kind = said[0] ?? "";
  if (!(goesOn ? "2345" : "245").includes(kind)) return false;
  return said.split("\n").every((line) => line[0] === kind && /^\d{3}(?=[\s-]|$)/.test(line));
}

function ignore(): void {}
