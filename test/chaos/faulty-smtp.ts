import { setTimeout as delay } from "node:timers/promises";
import type { Context, Point, Script, SmtpSession, Step } from "../smtp-server.ts";

/** Milliseconds: longer than the scenes' lease. */
const LONG = 4_000;

/** What may happen to one transaction. */
const FAULTS: readonly Partial<Record<Point, Step>>[] = [
  { mail: { end: "reset" } },
  { mail: { reply: "421 4.3.2 Shutting down", end: "close" } },
  { rcpt: "450 4.2.0 Busy" },
  { rcpt: "550 5.1.1 No such user" },
  { rcpt: () => delay(LONG, undefined) },
  { data: "451 4.3.0 Later" },
  { data: { end: "close" } },
  { body: { end: "reset" } },
  { dot: "451 4.3.0 Later" },
  { dot: "554 5.7.1 Looks like spam" },
  { dot: { keep: true, end: "reset" } },
  { dot: { end: "close" } },
  { dot: () => delay(LONG, undefined) },
];

/**
 * A server that fails in one transaction of ten, each time in another way, and now and then at the greeting.
 * @param how.share of the transactions that fail; set to 0 to have it well again
 */
export function faultyServer(how: { share: number }): Script {
  const faults = new Map<SmtpSession, Partial<Record<Point, Step>>>();
  const strike = (point: Point, context: Context) => {
    const step = faults.get(context.session)?.[point];
    return typeof step === "function" ? step(context) : step;
  };
  return {
    greeting: () =>
      Math.random() < how.share / 3 ? { reply: "421 4.3.2 Too busy", end: "close" } : undefined,
    mail(context) {
      const fault = Math.random() < how.share ? FAULTS[Math.floor(Math.random() * FAULTS.length)] : {};
      faults.set(context.session, fault ?? {});
      return strike("mail", context);
    },
    rcpt: (context) => strike("rcpt", context),
    data: (context) => strike("data", context),
    body: (context) => strike("body", context),
    dot: (context) => strike("dot", context),
  };
}
