import type { Mail, Slot, Told, Transport } from "./state.ts";

/** What a state may become by one step, and with the answer that was given; nothing: the answer was wrong in this state. */
export type Step<T> = (state: T) => readonly T[];

/** Whether something held while a step ran; "either" when it changed at that time. */
export type Perhaps = "yes" | "no" | "either";

/** What tells an outage from a mail that breaks the server; "either" when it changed at that time. */
export type Evidence = Pick<Transport, "servedAt" | "outageAt"> | "either";

/** Length of a lease, and what a worker tells as its policy. */
export const LEASE = 60e6;
export const POLICY = {
  delays: [30_000, 120_000, 600_000],
  max_age: 432_000_000,
  on_unknown_outcome: "resend",
  secrets_after_failure: 86_400_000,
};

/** Lets a step work on the mail with this id, where it still is; where it is gone, `gone` says whether that fits. */
export function onMail(id: string, step: Step<Mail>, gone = true): Step<Slot> {
  return (slot) => {
    if (slot.mail?.id !== id) return gone ? [slot] : [];
    return step(slot.mail).map((mail) => ({ ...slot, mail }));
  };
}

/** Lets a step work on the mail of any slot. */
export function onAnyMail(step: Step<Mail>): Step<Slot> {
  return (slot) => (slot.mail === null ? [slot] : step(slot.mail).map((mail) => ({ ...slot, mail })));
}

/** PENDING to SENDING, when it is due, not expired, has attempts left and its transport flows. */
export function claim(ask: {
  at: number;
  worker: string;
  got: { token: string; delivered: readonly string[]; refused: readonly string[] } | null;
  blocked: Perhaps;
  /** Nothing else ran at that time, so nothing was locked. */
  alone: boolean;
}): Step<Mail> {
  return (mail) => {
    const ready =
      mail.status === "PENDING" &&
      mail.due <= ask.at &&
      (mail.expiresAt === null || mail.expiresAt > ask.at) &&
      mail.attempts < mail.maxAttempts;
    if (ask.got === null) return ready && ask.blocked === "no" && ask.alone ? [] : [mail];
    const same = `${ask.got.delivered}|${ask.got.refused}` === `${mail.delivered}|${mail.refused}`;
    if (!ready || ask.blocked === "yes" || !same) return [];
    const { token } = ask.got;
    const lease = { token, worker: ask.worker, leaseUntil: ask.at + LEASE, handedOver: false };
    return [{ ...mail, ...lease, status: "SENDING", attempts: mail.attempts + 1 }];
  };
}

/** Renews the lease, or marks the hand-over, for whoever holds the token. */
export function extend(ask: { at: number; token: string; handOver: boolean; granted: boolean }): Step<Mail> {
  return (mail) => {
    if ((mail.token === ask.token) !== ask.granted) return [];
    if (!ask.granted || mail.leaseUntil === null) return [mail];
    const leaseUntil = Math.max(mail.leaseUntil, ask.at + LEASE);
    return [{ ...mail, leaseUntil, handedOver: mail.handedOver || ask.handOver }];
  };
}

/** The end of an attempt, however it comes to be known; and whether it is recorded, late or ignored. */
export function end(
  mail: Mail,
  told: Told,
  at: number,
  evidence: Evidence,
): { applied: string; mails: readonly Mail[] } {
  const holder = mail.token !== null && mail.token === told.token;
  const named = (positions: readonly (string | number)[]) =>
    positions.flatMap((position) => mail.addresses[Number(position) - 1] ?? []);
  const delivered = sorted([...mail.delivered, ...named(told.accepted)]);
  const refused = sorted([...mail.refused, ...(holder ? named(Object.keys(told.refused)) : [])]).filter(
    (address) => !delivered.includes(address),
  );
  const open = sorted(mail.addresses).filter((a) => !delivered.includes(a) && !refused.includes(a));
  const next: Mail = { ...mail, delivered, refused };

  if (!holder) {
    // Only what was accepted counts, whoever holds the mail.
    if (delivered.length === mail.delivered.length) return { applied: "ignored", mails: [mail] };
    if (open.length > 0) return { applied: "late", mails: [next] };
    const ends = mail.status === "SENDING" ? [...mail.ends, "released - -"] : mail.ends;
    return { applied: "late", mails: [sent({ ...next, ends }, at)] };
  }

  const mails = refunds(mail, told, at, evidence).flatMap((refunded) =>
    endHeld(mail, told, at, { next, open, refunded }),
  );
  return { applied: "recorded", mails };
}

/** What a mail becomes whose holder tells the end of its attempt. */
function endHeld(
  mail: Mail,
  told: Told,
  at: number,
  { next, open, refunded }: { next: Mail; open: readonly string[]; refunded: boolean },
): Mail[] {
  const { delivered } = next;
  const ended: Mail = {
    ...next,
    token: null,
    leaseUntil: null,
    attempts: mail.attempts - (refunded ? 1 : 0),
    deferrals: mail.deferrals + (refunded && told.kind !== "released" ? 1 : 0),
    duplicate: mail.duplicate || told.kind === "unknown",
    error: told.kind === "released" ? mail.error : told.error_code,
    ends: [...mail.ends, `${outcomeOf(told)} ${told.phase ?? "-"} ${told.error_code ?? "-"}`],
    brokenOff: told.refund === "unproven" ? at : mail.brokenOff,
  };
  if (open.length === 0 && delivered.length > 0) return [sent(ended, at)];
  if (told.kind === "released") return [waiting(ended, at, at)];
  const over =
    told.kind === "sent" ||
    told.kind === "failed" ||
    open.length === 0 ||
    (told.kind === "unknown" && (told.on_unknown_outcome ?? POLICY.on_unknown_outcome) === "fail") ||
    ended.attempts >= mail.maxAttempts ||
    isTooOld(mail, at);
  if (over) return [givenUp(ended, "FAILED", at)];
  const [from, to] = told.kind === "crashed" && refunded ? [0, 0] : delay(told, ended.attempts);
  const mails: Mail[] = [];
  if (mail.expiresAt === null || at + from < mail.expiresAt) mails.push(waiting(ended, at + from, at + to));
  if (mail.expiresAt !== null && at + to >= mail.expiresAt) {
    mails.push(givenUp({ ...ended, error: "expired" }, "FAILED", at));
  }
  return mails;
}

/** Whether the attempt is given back: never for a mail that breaks the server, always in an outage. */
function refunds(mail: Mail, told: Told, at: number, evidence: Evidence): boolean[] {
  if (told.kind === "crashed") return [mail.ends.filter((row) => row.startsWith("crashed ")).length < 2];
  const before = mail.brokenOff;
  if (told.refund !== "unproven" || before === null) return [told.refund !== "no"];
  if (evidence === "either") return [true, false];
  const { servedAt, outageAt } = evidence;
  const others = servedAt !== null && servedAt > before && servedAt <= at;
  const alone = outageAt === null || before > outageAt;
  return [!(others && (alone || mail.deferrals >= 20))];
}

/** SENDING whose lease ran out, or that was not handed over by a worker that is gone, ends its attempt. */
export function reap(at: number, workerIsGone: (worker: string) => Perhaps): Step<Mail> {
  return (mail) => {
    if (mail.status !== "SENDING" || mail.token === null) return [mail];
    const gone = mail.handedOver ? "no" : workerIsGone(mail.worker ?? "");
    const ranOut = (mail.leaseUntil ?? 0) <= at;
    if (!ranOut && gone === "no") return [mail];
    const told: Told = {
      id: mail.id,
      token: mail.token,
      kind: mail.handedOver ? "unknown" : "crashed",
      accepted: [],
      refused: {},
      refund: "no",
      wait: null,
      phase: mail.handedOver ? "final_dot" : null,
      smtp_code: null,
      error_code: mail.handedOver ? "outcome_unknown" : "worker_crashed",
      transport: null,
      on_unknown_outcome: mail.secret ? "fail" : null,
    };
    const { mails } = end(mail, told, at, "either");
    return !ranOut && gone === "either" ? [...mails, mail] : mails;
  };
}

/** Ends waiting mail; what some have received cannot be called back and ends as SENT, the rest noted. */
export function givenUp(mail: Mail, status: "FAILED" | "CANCELLED", at: number): Mail {
  if (mail.delivered.length === 0) return { ...mail, status, endedAt: at };
  const rest = mail.addresses.filter((address) => !mail.delivered.includes(address));
  return { ...mail, status: "SENT", endedAt: at, refused: sorted(rest), secretsGone: mail.secret };
}

/** Whether it has waited for longer than a mail may. */
export function isTooOld(mail: Mail, at: number): boolean {
  return at - Math.max(mail.sendAt, mail.createdAt) > POLICY.max_age * 1000;
}

/** Each once, in order. */
export function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].sort();
}

function sent(mail: Mail, at: number): Mail {
  const error = mail.refused.length > 0 ? "recipient_refused" : null;
  const endedAt = mail.status === "SENT" ? mail.endedAt : at;
  return { ...mail, status: "SENT", error, endedAt, token: null, leaseUntil: null, secretsGone: mail.secret };
}

function waiting(mail: Mail, due: number, dueUntil: number): Mail {
  return { ...mail, status: "PENDING", due, dueUntil };
}

/** Something died with the mail in hand: at once the first time that is spent. Half of each delay is random. */
function delay(told: Told, spent: number): [number, number] {
  const died = told.kind === "unknown" || told.kind === "crashed";
  const step = died ? spent - 1 : Math.max(spent, 1);
  const full = step < 1 ? 0 : (POLICY.delays[Math.min(step, POLICY.delays.length) - 1] ?? 0) * 1000;
  const hint = died ? 0 : (told.wait ?? 0) * 1000;
  return [Math.max(full / 2, hint), Math.max(full, hint)];
}

function outcomeOf(told: Told): string {
  if (told.kind === "retry") return "deferred";
  return told.kind === "failed" && told.smtp_code !== null ? "refused" : told.kind;
}
