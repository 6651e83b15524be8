import type { Timeouts, TransportSettings } from "../config.ts";
import { Pool } from "./pool.ts";
import type { SendReport } from "./report.ts";
import { readSettings } from "./settings.ts";
import { type SendRequest, transact } from "./transaction.ts";

export type { GateAnswer } from "./body.ts";
export type { Failure, Phase, RejectedRecipient, Reply, SendReport } from "./report.ts";
export type { SendRequest } from "./transaction.ts";

/** One mail server and our connections to it. */
export interface Transport {
  /** Its name in the configuration. */
  readonly name: string;
  /** Sends one message. Never throws, and tries nothing twice, but for an idle connection that the server had closed. */
  send(request: SendRequest): Promise<SendReport>;
  /** A new connection up to AUTH, which is then kept. `failure` null: the server is ready. */
  probe(signal?: AbortSignal): Promise<SendReport>;
  /** Idle connections take leave at once, busy ones after their send. */
  close(): Promise<void>;
}

/** Reads the settings and makes the transport; it connects when there is something to send. Throws a PosthasteError for settings that cannot be. */
export function createTransport(name: string, settings: TransportSettings, timeouts: Timeouts): Transport {
  const pool = new Pool(readSettings(name, settings), timeouts);
  return {
    name,
    send: (request) => pool.use(request.signal, (session) => transact(session, request), wasStale),
    probe: (signal) => pool.probe(signal),
    close: () => pool.close(),
  };
}

/** A server ends an idle session with a close, or with a 421 that we meet as the reply to our next command. */
function wasStale(report: SendReport): boolean {
  const { phase, failure } = report;
  if (phase !== "mail" || failure === null) return false;
  return failure.kind === "connection" || failure.reply?.code === 421;
}
