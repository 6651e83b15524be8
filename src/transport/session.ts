import type { Socket } from "node:net";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Timeouts } from "../config.ts";
import { Dialogue } from "./dialogue.ts";
import { readError } from "./failures.ts";
import { refuseLogin } from "./login.ts";
import { type Mask, maskOf } from "./mask.ts";
import { type Failure, failure, type Phase } from "./report.ts";
import type { ServerSettings } from "./settings.ts";
import { openSocket } from "./socket.ts";

/** How a step of a session ended. */
export type StepOutcome<T> = { readonly value: T } | { readonly failure: Failure };

// The clocks are ours (Dialogue); nodemailer's own must never be first.
const NEVER = 24 * 60 * 60 * 1000;
const QUIT_LIMIT = 2000;
const CLOSED = failure("connection", "ECONNECTION", "The server closed the connection.");

/**
 * One SMTP session. What happens on it is a row of steps (open, reset, a transaction). A step ends once, by its result or
 * by the first thing that goes wrong (a clock, the caller's signal, an error of the connection), and a step that goes
 * wrong takes the session with it. Nothing here throws or tries again.
 */
export class Session {
  readonly dialogue: Dialogue;
  /** For what the server says. */
  readonly mask: Mask;
  /** Transactions begun on it. */
  uses = 0;
  /** A transaction was left half-way, so RSET comes before the next one. */
  needsReset = false;
  /** Called once when the session ends while nobody is using it. */
  onIdleEnd: () => void = () => {};
  readonly #settings: ServerSettings;
  readonly #connectTimeout: number;
  #smtp: SMTPConnection | null = null;
  #socket: Socket | null = null;
  /** The socket whose octets are counted. */
  #counted: Socket | null = null;
  #ended = false;
  #fail: ((failure: Failure) => void) | null = null;

  constructor(settings: ServerSettings, timeouts: Timeouts) {
    this.#settings = settings;
    this.#connectTimeout = timeouts.connect;
    this.mask = maskOf(settings.auth);
    this.dialogue = new Dialogue(timeouts, this.mask, {
      fail: (reason) => this.fail(reason),
      said: () => this.#count(),
    });
  }

  /** A further message may be sent on it. */
  get usable(): boolean {
    return !this.#ended && this.uses < this.#settings.maxMessages;
  }

  get phase(): Phase {
    return this.dialogue.phase;
  }

  /** The socket that is written to (the TLS one after STARTTLS). */
  get socket(): Socket | null {
    return this.#smtp?._socket || this.#socket;
  }

  /** nodemailer's side of an opened session. */
  get smtp(): SMTPConnection {
    if (this.#smtp === null) throw new Error("A session must be opened before it is used.");
    return this.#smtp;
  }

  /** Connects, reads the greeting, does EHLO, TLS and AUTH. */
  open(signal?: AbortSignal): Promise<StepOutcome<void>> {
    return this.step<void>(signal, (done) => {
      this.dialogue.start("connect", "no connection");
      this.#socket = openSocket(this.#settings, this.#connectTimeout, {
        tls: () => {
          this.dialogue.phase = "tls";
        },
        failed: (reason) => this.fail(reason),
        ready: (socket) => this.#greet(socket, done),
      });
    });
  }

  /** Ends a transaction that was left half-way. */
  reset(signal?: AbortSignal): Promise<StepOutcome<void>> {
    return this.step<void>(signal, (done) => {
      this.dialogue.begin();
      this.smtp.reset((error) => (error ? this.fail(readError(error, this.phase, this.mask)) : done()));
    });
  }

  /** Runs one step. An aborted signal ends the step and the session. */
  step<T>(signal: AbortSignal | undefined, run: (done: (value: T) => void) => void): Promise<StepOutcome<T>> {
    return new Promise((resolve) => {
      const onAbort = () => this.fail(failure("aborted", "EABORT", "The send was aborted."));
      const settle = (outcome: StepOutcome<T>) => {
        this.#fail = null;
        this.dialogue.stop();
        signal?.removeEventListener("abort", onAbort);
        resolve(outcome);
      };
      this.#fail = (reason) => {
        settle({ failure: reason });
        this.destroy();
      };
      if (signal?.aborted) return onAbort();
      if (this.#ended) return this.fail(CLOSED);
      signal?.addEventListener("abort", onAbort, { once: true });
      const owner = this.#fail;
      run((value) => {
        if (this.#fail === owner) settle({ value });
      });
    });
  }

  /** Ends the step under way and the session. Between steps it only ends the session. */
  fail(reason: Failure): void {
    const wasOpen = !this.#ended;
    if (this.#fail) this.#fail(reason);
    else if (wasOpen) {
      this.destroy();
      this.onIdleEnd();
    }
  }

  /** Takes leave: QUIT, its reply, close. Resolves when the connection is closed, at the latest after 2 s. */
  async quit(): Promise<void> {
    const smtp = this.#smtp;
    if (this.#ended || smtp === null) return this.destroy();
    this.onIdleEnd = () => {};
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, QUIT_LIMIT);
      smtp.once("end", () => {
        clearTimeout(limit);
        resolve();
      });
      smtp.quit();
    });
    this.destroy();
  }

  /** Closes at once; a message without its final dot is dropped by the server. */
  destroy(): void {
    this.#ended = true;
    this.dialogue.end();
    this.#smtp?.close();
    this.#socket?.destroy();
  }

  #greet(socket: Socket, done: () => void): void {
    const { host, port, secure, name, requireTLS, ignoreTLS, opportunisticTLS, tls } = this.#settings;
    const smtp = new SMTPConnection({
      ...{ host, port, secure, secured: secure, requireTLS, ignoreTLS, opportunisticTLS, tls },
      ...(name === null ? {} : { name }),
      ...{ connectionTimeout: NEVER, greetingTimeout: NEVER, socketTimeout: NEVER, socketCloseTimeout: 0 },
      ...{ connection: socket, logger: this.dialogue.logger, transactionLog: true },
    });
    this.#smtp = smtp;
    this.dialogue.phase = "connect";
    smtp.on("error", (error) => this.fail(readError(error, this.phase, this.mask)));
    // After a 421 nodemailer says "end" first and the reason right after.
    smtp.on("end", () => queueMicrotask(() => this.fail(CLOSED)));
    this.dialogue.start("greeting", "no greeting");
    // Only a silent close before the greeting comes by the callback; the rest comes by the error event.
    smtp.connect((error) =>
      error ? this.fail(readError(error, this.phase, this.mask)) : this.#login(smtp, socket, done),
    );
    // nodemailer listens from its next turn on; whoever listens before it would take the greeting from it.
    setImmediate(() => this.#count());
  }

  /** Counts what is read from the present socket, which is another one after STARTTLS; after nodemailer has read it. */
  #count(): void {
    const { socket } = this;
    if (socket === null || socket === this.#counted) return;
    this.#counted = socket;
    socket.on("data", (chunk: Buffer) => this.dialogue.received(chunk.length));
  }

  #login(smtp: SMTPConnection, socket: Socket, done: () => void): void {
    const { auth, host } = this.#settings;
    const refused = auth && refuseLogin(smtp, socket.remoteAddress, host);
    if (refused) this.fail(refused);
    else if (auth) {
      this.dialogue.phase = "auth";
      const credentials = { user: auth.user, pass: auth.pass };
      const login = { ...credentials, credentials, method: auth.method ?? false } as const;
      smtp.login(login, (error) => (error ? this.fail(readError(error, this.phase, this.mask)) : done()));
    } else done();
  }
}
