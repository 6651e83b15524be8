import type { ClaimedEmail, Store } from "../database/store.ts";
import type { Log } from "../log.ts";
import type { Transport } from "../transport/transport.ts";
import { judge, type Verdict } from "../transport/verdict.ts";

/** Tells the breakers in the database how attempts went, and probes open ones. */
export interface Breaker {
  /** How an attempt of this mail went. `probing`: it was to find out about the server. */
  report(name: string, verdict: Verdict, email: Attempted, probing: boolean): Promise<void>;
  /** Probes the transports whose time has come; returns milliseconds until the next probe, or null. `sendOne` tells whether the server was asked. */
  probe(sendOne: SendOne): Promise<number | null>;
}

/** A mail, and when it was claimed, by the database's clock. */
type Attempted = Pick<ClaimedEmail, "id" | "locked_at">;
type SendOne = (id: string, transport: string) => Promise<boolean>;

/** Longest time that a probe may take before another process may make one. */
const PROBE_HOLD = 120_000;
/** What fails here may be the fault of the mail; what fails before, never is. */
const WITHIN_A_MAIL: ReadonlySet<Verdict["phase"]> = new Set(["mail", "rcpt", "data", "final_dot"]);

/** The breakers of this process's transports. They live in the database; this only remembers which ones are not at rest. */
export function createBreaker(options: {
  store: Store;
  transports: ReadonlyMap<string, Transport>;
  log: Log;
  /** A breaker has opened: it is to be probed. */
  onOpened: () => void;
  /** A breaker has closed: its mail has no jobs yet. */
  onClosed: () => void;
  onError: (error: unknown) => void;
}): Breaker {
  const { store, transports, log } = options;
  const names = [...transports.keys()];
  // A success is told only when it changes something, so that ordinary sends cost no extra statement.
  const troubled = new Set<string>();
  // Opening is told once, however many attempts under way find the same.
  const open = new Set<string>();

  async function tell(name: string, verdict: Verdict, email: Attempted | null): Promise<void> {
    const beganAt = email?.locked_at ?? null;
    if (verdict.breaker === "none") return;
    if (verdict.breaker === "close") {
      if (!troubled.delete(name)) return;
      await store.reportTransport(name, "close", beganAt, null, null, null);
      if (open.delete(name)) log("transport_closed", { transport: name });
      options.onClosed();
      return;
    }
    troubled.add(name);
    const state = await store.reportTransport(
      name,
      verdict.breaker,
      beganAt,
      email !== null && WITHIN_A_MAIL.has(verdict.phase) ? email.id : null,
      verdict.errorCode,
      verdict.message,
    );
    if (state !== "open" || open.has(name)) return;
    open.add(name);
    log("transport_opened", { transport: name, ...causeOf(verdict) });
    options.onOpened();
  }

  async function probeOne(name: string, id: string | null, sendOne: SendOne): Promise<void> {
    const transport = transports.get(name);
    if (!transport) return;
    troubled.add(name);
    open.add(name);
    const verdict = judge(await transport.probe());
    if (verdict.breaker === "count" || verdict.breaker === "open") await tell(name, verdict, null);
    else if (id === null || !(await sendOne(id, name))) {
      // It lets us in. One mail is to find out whether it also takes mail, and its report decides; here none could.
      await tell(name, { ...verdict, breaker: "close" }, null);
    }
    if (open.has(name)) log("transport_probed", { transport: name, ...causeOf(verdict) });
  }

  return {
    async report(name, verdict, email, probing) {
      // A probe that found out nothing has not shown that the server serves, and the next one must not wait for PROBE_HOLD.
      const found =
        probing && verdict.breaker === "none" ? ({ ...verdict, breaker: "count" } as const) : verdict;
      try {
        await tell(name, found, email);
      } catch (error) {
        options.onError(error);
      }
    },
    async probe(sendOne) {
      const due = await store.takeProbes(names, PROBE_HOLD);
      await Promise.all(due.map(({ name, email_id: id }) => probeOne(name, id, sendOne)));
      const states = await store.transportStates(names);
      for (const { name, state, failures } of states) {
        if (failures > 0) troubled.add(name);
        if (state === "closed") open.delete(name);
      }
      const waits = states.flatMap(({ probe_in }) => (probe_in === null ? [] : [probe_in]));
      return waits.length === 0 ? null : Math.min(...waits);
    },
  };
}

function causeOf({ errorCode: code, phase, smtpCode }: Verdict) {
  return { code, phase, smtpCode };
}
