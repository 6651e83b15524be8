import fc from "fast-check";
import type { Act, Context, Script, SmtpSession } from "../smtp-server.ts";

/**
 * What an answer says by the design. `taken`: yes. `later`: tried again at the mail's cost. `crowded`: too many recipients,
 * tried again at nobody's cost. `midway`: the server failed, which costs nothing unless it is this mail alone. `soft`: a refusal that is not
 * believed at first. `never`: refused for good. `unknown`: no whole reply to the dot.
 */
export type Fate = "taken" | "later" | "crowded" | "midway" | "soft" | "never" | "unknown";

/** One answer of the server; null acts as usual, which is a yes. */
export interface Answer {
  readonly fate: Fate;
  readonly act: Act | null;
}

/** A mail, and how the server will treat its attempts one after the other; after the last of them it says yes to all. */
export interface ScriptedMail {
  /** `again` is the person before, listed once more in another spelling. */
  readonly people: readonly {
    readonly line: "recipients" | "cc" | "bcc";
    readonly form: "bare" | "named" | "again";
  }[];
  readonly template: "plain" | "once";
  readonly transport: "default" | "piped";
  readonly maxAttempts: number;
  readonly attempts: readonly {
    readonly rcpt: readonly Answer[];
    readonly data: Answer;
    readonly dot: Answer;
  }[];
}

/** What the server saw and answered in one transaction. */
export interface Transaction {
  readonly rcpt: Map<string, Fate>;
  /** Null: it did not come to this. */
  data: Fate | null;
  dot: Fate | null;
}

const YES: Answer = { fate: "taken", act: null };
const MOST_PEOPLE = 5;
const GOODBYE = { reply: "421 4.3.2 Shutting down", end: "close" } as const;
const SILENT_END: Answer = { fate: "midway", act: { end: "close" } };

function answers(fate: Fate, ...acts: readonly Act[]): Answer[] {
  return acts.map((act) => ({ fate, act }));
}

function mostly(yes: number, others: readonly Answer[]): fc.Arbitrary<Answer> {
  return fc.oneof(
    { weight: yes, arbitrary: fc.constant(YES) },
    { weight: 10 - yes, arbitrary: fc.constantFrom(...others) },
  );
}

const RCPT = mostly(5, [
  ...answers("later", "450 4.2.0 Busy", "451 4.7.1 Greylisted, try again in 300 seconds", "450 Later"),
  ...answers("later", "452 4.2.2 Mailbox full", "552 5.2.2 Mailbox full", "503 5.5.1 Out of step"),
  ...answers("crowded", "452 4.5.3 Too many recipients"),
  ...answers(
    "never",
    "550 5.1.1 No such user",
    "553 5.1.3 Bad address",
    "550 Unknown",
    "554 4.1.1 Two minds",
  ),
  ...answers("soft", "550 5.7.1 Not today", "550 5.2.0 Temporary trouble"),
  ...answers("midway", GOODBYE),
  SILENT_END,
]);
const DATA = mostly(8, [
  ...answers("later", "451 4.3.0 Later", "503 5.5.1 Out of step"),
  ...answers("midway", "452 4.3.1 Disk full", GOODBYE),
  ...answers("never", "554 5.6.0 Not such a message"),
  SILENT_END,
]);
const DOT = mostly(5, [
  ...answers("taken", "250 Ok", "250-2.0.0 Ok\r\n250 2.0.0 queued"),
  ...answers("later", "451 4.3.0 Later", "452 4.2.2 Full", "450 Not now", "503 5.5.1 Out of step"),
  ...answers("never", "554 5.7.1 Spam", "552 5.3.4 Too large", "550 No"),
  ...answers("midway", GOODBYE, GOODBYE, GOODBYE),
  ...answers("unknown", { end: "close" }, { end: "reset" }, { keep: true, end: "close" }),
  ...answers("unknown", { keep: true, end: "reset" }, { keep: true, raw: "25", end: "close" }),
]);

/** Mails with random scripts. */
export const scriptedMail: fc.Arbitrary<ScriptedMail> = fc.record({
  people: fc.array(
    fc.record({
      line: fc.constantFrom("recipients", "cc", "bcc"),
      form: fc.constantFrom("bare", "named", "again"),
    }),
    { minLength: 1, maxLength: MOST_PEOPLE },
  ),
  template: fc.constantFrom("plain", "plain", "plain", "once"),
  transport: fc.constantFrom("default", "piped"),
  maxAttempts: fc.integer({ min: 1, max: 5 }),
  attempts: fc.array(
    fc.record({
      rcpt: fc.array(RCPT, { minLength: MOST_PEOPLE, maxLength: MOST_PEOPLE }),
      data: DATA,
      dot: DOT,
    }),
    { minLength: 1, maxLength: 7 },
  ),
});

/** The arguments of posthaste.enqueue() for the mail of this number: the addresses tell the server whose they are. */
export function requestOf(mail: ScriptedMail, number: number): Record<string, unknown> {
  const lines: Record<"recipients" | "cc" | "bcc", string[]> = { recipients: [], cc: [], bcc: [] };
  mail.people.forEach(({ line, form }, index) => {
    const address = `p${form === "again" ? Math.max(0, index - 1) : index}.m${number}`;
    const spelling = { bare: "@customer.example", named: "@customer.example>", again: "@Customer.Example" };
    const text = `${form === "named" ? `"Number ${index}" <` : ""}${address}${spelling[form]}`;
    lines[index === 0 ? "recipients" : line].push(text);
  });
  return {
    ...lines,
    recipient: null,
    template: mail.template,
    from_address: `m${number}@shop.example`,
    transport: mail.transport,
    max_attempts: mail.maxAttempts,
    parameters: { n: number },
  };
}

/** The servers' side of the mails: a script for both of them, and what has happened to each mail. */
export function playScripts(mails: readonly ScriptedMail[]): { script: Script; seen: Transaction[][] } {
  const seen: Transaction[][] = mails.map(() => []);
  const current = new Map<SmtpSession, { transaction: Transaction; number: number; turn: number }>();
  const here = ({ session }: Context) => {
    const found = current.get(session);
    if (!found) throw new Error("A command came before MAIL.");
    return { ...found, attempt: mails[found.number]?.attempts[found.turn] };
  };
  const script: Script = {
    mail({ session, address }) {
      const number = Number(/^m(\d+)@/.exec(address)?.[1]);
      const transaction: Transaction = { rcpt: new Map(), data: null, dot: null };
      const turn = seen[number]!.push(transaction) - 1;
      current.set(session, { transaction, number, turn });
      return undefined;
    },
    rcpt(context) {
      const { transaction, attempt } = here(context);
      const { fate, act } = attempt?.rcpt[Number(/^p(\d+)/.exec(context.address)?.[1])] ?? YES;
      transaction.rcpt.set(context.address, fate);
      return act ?? undefined;
    },
    data(context) {
      const { transaction, attempt } = here(context);
      // Nobody was accepted: with PIPELINING the client asks all the same.
      if (![...transaction.rcpt.values()].includes("taken")) return undefined;
      const { fate, act } = attempt?.data ?? YES;
      transaction.data = fate;
      return act ?? undefined;
    },
    dot(context) {
      const { transaction, attempt } = here(context);
      const { fate, act } = attempt?.dot ?? YES;
      transaction.dot = fate;
      return act ?? undefined;
    },
  };
  return { script, seen };
}
