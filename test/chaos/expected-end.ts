import { parseMailbox } from "../../src/message/addresses.ts";
import type { Row } from "../faults/mails.ts";
import type { Fate, ScriptedMail, Transaction } from "./reply-scripts.ts";

/** What the row says about how a mail ended, against what the server did to it: the promises that are broken. */
export function brokenPromises(mail: ScriptedMail, seen: readonly Transaction[], row: Row): string[] {
  const broken: string[] = [];
  const demand = (promise: string, kept: boolean) => {
    if (!kept) broken.push(promise);
  };
  const { accepted, refused, soft, again } = replay(seen, mail.transport === "piped");
  demand(`nobody is tried again who was accepted or refused for good: ${again.join()}`, again.length === 0);

  const all = new Set<string>([...row.recipients, ...row.cc, ...row.bcc].map(wire));
  const delivered = new Set<string>(row.delivered_to.map(wire));
  const rejected = new Set<string>(Object.keys(row.refused).map(wire));
  demand("delivered_to is what the server accepted", same(delivered, accepted));
  demand("who was refused for good is in refused", isWithin(refused, rejected));
  demand(
    "nobody who has it is in refused",
    [...accepted].every((one) => !rejected.has(one)),
  );
  demand("SENT says that somebody has it", (row.status === "SENT") === accepted.size > 0);
  demand("nobody has it: FAILED", accepted.size > 0 || row.status === "FAILED");

  const last = seen.at(-1);
  const settled = new Set([...accepted, ...refused, ...[...soft].filter((one) => rejected.has(one))]);
  const givenUp = [...all].filter((one) => !settled.has(one));
  const reason =
    last?.dot === "never" || last?.data === "never"
      ? "refused"
      : last?.dot === "unknown" && mail.template === "once"
        ? "unknown"
        : row.attempt_count === mail.maxAttempts
          ? "exhausted"
          : null;
  demand(
    `somebody is given up only for a reason: ${givenUp.join()}`,
    givenUp.length === 0 || reason !== null,
  );
  demand(
    "SENT names everybody who does not have it",
    row.status !== "SENT" || same(rejected, minus(all, accepted)),
  );
  demand(
    "FAILED names those who were refused",
    row.status !== "FAILED" || same(rejected, minus(settled, accepted)),
  );
  const doubtful = [...soft].some((one) => rejected.has(one));
  const code = doubtful ? undefined : expectedCode(reason, givenUp.length > 0, rejected.size > 0);
  demand(`error_code ${row.error_code} fits ${code}`, code === undefined || code === row.error_code);

  const unknown = seen.some(({ dot }) => dot === "unknown");
  demand("possible_duplicate says that an outcome was unknown", row.possible_duplicate === unknown);
  demand("no attempt is forgotten", row.attempt_count + row.deferral_count === seen.length);
  demand("no more attempts than allowed", row.attempt_count <= mail.maxAttempts);
  const free = seen.filter((one) => isMidway(one) || isCrowded(one)).length;
  demand(`at most ${free} attempts are free`, row.deferral_count <= free);
  return broken;
}

/**
 * Goes through the transactions: who has it, who never will, and who was tried although that was known. With PIPELINING
 * several replies come at once, and a connection that ends with them takes along what is not read yet: who was refused in
 * these words may be asked once more.
 */
function replay(seen: readonly Transaction[], pipelining: boolean) {
  const accepted = new Set<string>();
  const refused = new Set<string>();
  const soft = new Set<string>();
  const again: string[] = [];
  for (const transaction of seen) {
    const { rcpt, dot } = transaction;
    const unread = pipelining && isMidway(transaction);
    for (const [address, fate] of rcpt) {
      if (accepted.has(address) || refused.has(address)) again.push(address);
      if (fate === "never" && !unread) refused.add(address);
      else if (fate === "never" || fate === "soft") soft.add(address);
    }
    if (dot === "taken") for (const [address, fate] of rcpt) if (fate === "taken") accepted.add(address);
  }
  return { accepted, refused, soft, again };
}

/** The error code, or undefined where several fit: an exhausted mail keeps its last cause. */
function expectedCode(
  reason: string | null,
  givenUp: boolean,
  anyRefused: boolean,
): string | null | undefined {
  if (!givenUp) return anyRefused ? "recipient_refused" : null;
  return reason === "unknown" ? "outcome_unknown" : undefined;
}

/** The server failed, and nothing that it says is about this mail. */
function isMidway({ rcpt, data, dot }: Transaction): boolean {
  return [...rcpt.values(), data, dot].includes("midway");
}

/** All who were put off were put off for want of room. */
function isCrowded({ rcpt }: Transaction): boolean {
  const put: Fate[] = [...rcpt.values()].filter((fate) => fate !== "taken" && fate !== "never");
  return put.length > 0 && put.every((fate) => fate === "crowded");
}

function wire(address: string): string {
  return parseMailbox(address)?.wire ?? address;
}

function minus(whole: ReadonlySet<string>, part: ReadonlySet<string>): Set<string> {
  return new Set([...whole].filter((one) => !part.has(one)));
}

function isWithin(part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean {
  return [...part].every((one) => whole.has(one));
}

function same(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && isWithin(one, other);
}
