import { givenUp, isTooOld, type Perhaps, POLICY, reap, type Step } from "./machine.ts";
import type { Mail, Slot, Transport } from "./state.ts";

/** What an operator's action said: done, or the code of its refusal. */
export type Answer = "done" | "PH020" | "PH021" | "PH022" | "PH023" | "PH024";

/** Milliseconds for which purged mail keeps its key. */
export const KEEP_KEYS = 2 * 86_400_000;

/** A new mail for a key that is free, and nothing for one that is taken. */
export function enqueue(ask: {
  request: string;
  mail: Mail;
  key: boolean;
  /** Whether a taken key is compared with the request, as the function does and a bulk insert does not. */
  compares: boolean;
  /** The id that was answered; null: nothing was inserted. */
  got: string | null | "PH001";
}): Step<Slot> {
  return ({ key, mail }) => {
    const free = key === null || (key.until !== null && key.until <= ask.mail.createdAt);
    if (free) {
      if (ask.got !== ask.mail.id) return [];
      const made = ask.key ? { id: ask.got, request: ask.request, until: null } : null;
      return [{ key: made, mail: ask.mail }];
    }
    const known = ask.compares ? (key.request === ask.request ? key.id : "PH001") : null;
    return ask.got === known ? [{ key, mail }] : [];
  };
}

/** An operator withdraws what waits. */
export function cancel(at: number, answer: Answer): Step<Slot> {
  return onAnswer(answer, (mail) =>
    mail.status === "PENDING"
      ? ["done", finish({ ...mail, error: "cancelled" }, "CANCELLED", at)]
      : ["PH021", mail],
  );
}

/** An operator sends again what failed. */
export function retry(at: number, answer: Answer): Step<Slot> {
  return onAnswer(answer, (mail) => {
    if (mail.status !== "FAILED") return ["PH021", mail];
    if (mail.expiresAt !== null && mail.expiresAt <= at) return ["PH022", mail];
    if (mail.secretsGone) return ["PH023", mail];
    if (mail.bad) return ["PH024", mail];
    const anew = { attempts: 0, sendAt: at, due: at, dueUntil: at, refused: [], error: null, endedAt: null };
    return ["done", { ...mail, ...anew, status: "PENDING" }];
  });
}

/** An action on all that it fits; what was in other hands at that time may have been left out. */
export function onMatching(
  act: (at: number, answer: Answer) => Step<Slot>,
  at: number,
  alone: boolean,
): Step<Slot> {
  return (slot) => {
    const done = act(at, "done")(slot);
    return done.length > 0 && alone ? done : [...done, slot];
  };
}

/** One run of maintenance: ends what ran out, what expired, what is too old; removes old secrets. */
export function maintain(ask: {
  at: number;
  alone: boolean;
  workerIsGone: (worker: string) => Perhaps;
}): Step<Mail> {
  const { at } = ask;
  const steps: Step<Mail>[] = [
    reap(at, ask.workerIsGone),
    (mail) =>
      mail.status === "PENDING" && mail.expiresAt !== null && mail.expiresAt <= at
        ? [finish({ ...mail, error: "expired" }, "FAILED", at)]
        : [mail],
    (mail) =>
      mail.status === "FAILED" && (mail.endedAt ?? at) <= at - POLICY.secrets_after_failure * 1000
        ? [{ ...mail, secretsGone: mail.secretsGone || mail.secret }]
        : [mail],
    (mail) => {
      if (mail.status !== "PENDING" || !isTooOld(mail, at) || mail.due > at + 60e6) return [mail];
      const old = finish({ ...mail, error: mail.error ?? "expired" }, "FAILED", at, mail.error);
      // What is due is always looked at; what comes near once, as its time comes near.
      return mail.dueUntil <= at ? [old] : [old, mail];
    },
  ];
  return (mail) =>
    steps.reduce<readonly Mail[]>(
      (states, step) => states.flatMap((state) => (ask.alone ? step(state) : [...step(state), state])),
      [mail],
    );
}

/** Mail that ended long enough ago goes, and its key stays for a while. */
export function purge(ask: { at: number; status: string; age: number; alone: boolean }): Step<Slot> {
  return (slot) => {
    const { mail, key } = slot;
    const before = ask.at - ask.age * 1000;
    if (mail?.status !== ask.status || (mail.endedAt ?? ask.at) >= before || mail.createdAt >= before) {
      return [slot];
    }
    const gone: Slot = { mail: null, key: key && { ...key, until: ask.at + KEEP_KEYS * 1000 } };
    return ask.alone ? [gone] : [gone, slot];
  };
}

/** Keys that have expired are forgotten. */
export function purgeKeys(at: number, alone: boolean): Step<Slot> {
  return (slot) => {
    if (slot.key?.until == null || slot.key.until > at) return [slot];
    const gone: Slot = { ...slot, key: null };
    return alone ? [gone] : [gone, slot];
  };
}

export const pause: Step<Transport> = (transport) => [{ ...transport, paused: true }];

export function resume(answer: Answer): Step<Transport> {
  return (transport) => ((answer === "done") === transport.paused ? [{ ...transport, paused: false }] : []);
}

/** The breaker opens or closes. */
export function breaker(open: boolean): Step<Transport> {
  return (transport) => [{ ...transport, open }];
}

/** What can never be sent again needs its secrets no more; a failure may be retried. */
function finish(mail: Mail, status: "FAILED" | "CANCELLED", at: number, cause = mail.error): Mail {
  const done = givenUp(mail, status, at);
  const over = done.status !== "FAILED" || cause === "expired";
  return over ? { ...done, secretsGone: done.secretsGone || mail.secret } : done;
}

function onAnswer(answer: Answer, step: (mail: Mail) => [Answer, Mail]): Step<Slot> {
  return (slot) => {
    if (slot.mail === null) return answer === "PH020" ? [slot] : [];
    const [expected, mail] = step(slot.mail);
    return expected === answer ? [{ ...slot, mail }] : [];
  };
}
