import type { Timeouts } from "../config.ts";
import { type Failure, failedReport, failure, type SendReport } from "./report.ts";
import { Session } from "./session.ts";
import type { ServerSettings } from "./settings.ts";

/** What a user of the pool does with a session; the pool looks after it before and after. */
export type UseSession = (session: Session) => Promise<SendReport>;

/**
 * At most `connections` sessions at once. Who finds none free waits, first come first served. A session that can be used
 * again is kept until its idle time is up; the one used last is taken first, so that a quiet pool shrinks.
 */
export class Pool {
  readonly #settings: ServerSettings;
  readonly #timeouts: Timeouts;
  readonly #idle: { session: Session; timer: NodeJS.Timeout }[] = [];
  readonly #waiting: { start(failure: Failure | null): void }[] = [];
  #busy = 0;
  /** Whether the last login succeeded. */
  #proven = false;
  /** The login that others wait for; resolves with the refusal, or null. */
  #trial: Promise<SendReport | null> | null = null;
  #closed = false;
  #onQuiet: () => void = () => {};

  constructor(settings: ServerSettings, timeouts: Timeouts) {
    this.#settings = settings;
    this.#timeouts = timeouts;
  }

  /**
   * Runs `use` on an idle session, or on a new one. When the server had closed the idle one (`stale` says so of the
   * report), it runs once more on a new one: nothing was said yet, so it costs the mail nothing.
   */
  async use(
    signal: AbortSignal | undefined,
    use: UseSession,
    stale: (report: SendReport) => boolean,
  ): Promise<SendReport> {
    const refused = await this.#turn(signal);
    if (refused) return failedReport("connect", refused);
    try {
      const idle = this.#takeIdle();
      if (idle) {
        const report = await this.#run(idle, use);
        if (!stale(report)) return report;
      }
      return await this.#onNew(signal, use);
    } finally {
      this.#next();
    }
  }

  /** Opens a new session and keeps it. */
  async probe(signal: AbortSignal | undefined): Promise<SendReport> {
    const refused = await this.#turn(signal);
    if (refused) return failedReport("connect", refused);
    try {
      // Its place may be taken by an idle one, which has proved nothing for a while.
      if (this.#idle.length + this.#busy > this.#settings.connections) await this.#takeIdle()?.quit();
      return await this.#onNew(signal, async (session) => ({
        ...failedReport(session.phase, NOTHING),
        failure: null,
      }));
    } finally {
      this.#next();
    }
  }

  /** Idle sessions take leave, those in use after what they do; who waits or comes later is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { start } of this.#waiting.splice(0)) start(CLOSED);
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
      if (this.#busy === 0) resolve();
    });
    const leaving: Promise<void>[] = [];
    for (let session = this.#takeIdle(); session; session = this.#takeIdle()) leaving.push(session.quit());
    await Promise.all([quiet, ...leaving]);
  }

  async #onNew(signal: AbortSignal | undefined, use: UseSession): Promise<SendReport> {
    // A wrong password must not be tried as often as mail is waiting: servers lock out who does. Until a login has
    // succeeded, one session tries, and the others take a refusal as their own.
    for (let trial = this.#trial; trial; trial = this.#trial) {
      const refused = await trial;
      if (refused) return refused;
    }
    const session = new Session(this.#settings, this.#timeouts);
    const opening = session.open(signal).then((opened) => {
      if (!("failure" in opened)) this.#proven = true;
      else if (opened.failure.kind === "auth") this.#proven = false;
      return opened;
    });
    if (!this.#proven) {
      this.#trial = opening.then((opened) => {
        this.#trial = null;
        const refused = "failure" in opened && opened.failure.kind === "auth";
        return refused ? failedReport(session.phase, opened.failure) : null;
      });
    }
    const opened = await opening;
    return "failure" in opened ? failedReport(session.phase, opened.failure) : this.#run(session, use);
  }

  async #run(session: Session, use: UseSession): Promise<SendReport> {
    const report = await use(session);
    if (!session.usable || this.#closed) {
      const left = session.quit();
      if (this.#closed) await left;
      return report;
    }
    const timer = setTimeout(() => {
      this.#forget(session);
      void session.quit();
    }, this.#settings.idleTimeout);
    timer.unref();
    session.onIdleEnd = () => this.#forget(session);
    this.#idle.push({ session, timer });
    return report;
  }

  #takeIdle(): Session | null {
    const last = this.#idle.pop();
    if (last === undefined) return null;
    clearTimeout(last.timer);
    return last.session;
  }

  #forget(session: Session): void {
    const index = this.#idle.findIndex((one) => one.session === session);
    if (index >= 0) clearTimeout(this.#idle.splice(index, 1)[0]?.timer);
  }

  /** Waits for one of the places; null when it is ours, else why it never will be. */
  #turn(signal: AbortSignal | undefined): Promise<Failure | null> | Failure | null {
    if (this.#closed) return CLOSED;
    if (signal?.aborted) return ABORTED;
    if (this.#busy < this.#settings.connections) {
      this.#busy += 1;
      return null;
    }
    return new Promise((resolve) => {
      const place = {
        start: (refused: Failure | null) => {
          signal?.removeEventListener("abort", onAbort);
          resolve(refused);
        },
      };
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(place), 1);
        resolve(ABORTED);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(place);
    });
  }

  /** Hands the place on. */
  #next(): void {
    const next = this.#waiting.shift();
    if (next) next.start(null);
    else this.#busy -= 1;
    if (this.#busy === 0) this.#onQuiet();
  }
}

const CLOSED = failure("aborted", "ECLOSED", "The transport is closed.");
const ABORTED = failure("aborted", "EABORT", "The send was aborted while it waited for a connection.");
const NOTHING = failure("aborted", "EABORT", "");
