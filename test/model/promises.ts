import { isTooOld } from "./machine.ts";
import { mailsOf, type World } from "./state.ts";

/**
 * What must hold in every state, told apart from the machine, so that a mistake in it shows.
 * @returns broken promises, each as a sentence
 */
export function brokenPromises(world: World): string[] {
  const broken: string[] = [];
  const must = (holds: boolean, promise: string) => {
    if (!holds) broken.push(promise);
  };
  for (const mail of mailsOf(world)) {
    const { id, status, delivered } = mail;
    const at = `mail ${id} (${status})`;
    const ended = status === "SENT" || status === "FAILED" || status === "CANCELLED";
    must((mail.token !== null) === (status === "SENDING"), `${at} has a lease only while it is sent`);
    must(
      (mail.leaseUntil !== null) === (status === "SENDING"),
      `${at} has an end of its lease only while it is sent`,
    );
    must((mail.endedAt !== null) === ended, `${at} has an end only in an end state`);
    must(mail.attempts <= mail.maxAttempts, `${at} stays within its attempts`);
    must(status !== "SENT" || delivered.length > 0, `${at} is SENT only when somebody has it`);
    must(
      ended || mail.addresses.some((a) => !delivered.includes(a) && !mail.refused.includes(a)),
      `${at} waits only for somebody`,
    );
    must(
      mail.refused.every((a) => !delivered.includes(a)),
      `${at} has nobody both delivered and refused`,
    );
    must(
      mail.duplicate === mail.ends.some((row) => row.startsWith("unknown ")),
      `${at} is flagged exactly when a hand-over ended unknown`,
    );
    const claims = world.leases.filter((lease) => lease.id === id).length;
    must(
      mail.ends.length === claims - Number(status === "SENDING"),
      `${at} was claimed ${claims} times and has ${mail.ends.length} rows of ended attempts`,
    );
  }
  const byId = new Map(mailsOf(world).map((mail) => [mail.id, mail]));
  for (const { id, addresses, told } of world.leases) {
    const mail = byId.get(id);
    if (!mail) continue;
    for (const { accepted } of told) {
      for (const position of accepted) {
        const address = addresses[position - 1] ?? "";
        must(
          mail.delivered.includes(address),
          `mail ${id} remembers position ${position}, which was told as accepted`,
        );
      }
    }
  }
  for (const [copy, times] of world.copies) {
    const mail = byId.get(copy.split(" ")[0] ?? "");
    if (mail && times > 1)
      must(mail.duplicate, `mail ${mail.id} went ${times} times to one address only with the flag`);
  }
  return broken;
}

/** Mail that is due and flows, and has no job; after maintenance there is none. */
export function withoutJob(world: World): string[] {
  const { now } = world;
  if (world.transport.paused || world.transport.open) return [];
  return mailsOf(world)
    .filter(
      (mail) =>
        mail.status === "PENDING" && mail.due <= now && !isTooOld(mail, now) && !world.jobs.has(mail.id),
    )
    .map(({ id }) => `mail ${id} is due and has no job`);
}

/** Steps that the chart of states has. */
export const CHART: ReadonlySet<string> = new Set([
  "PENDING → SENDING", "PENDING → CANCELLED", "PENDING → FAILED", "PENDING → SENT",
  "SENDING → PENDING", "SENDING → SENT", "SENDING → FAILED",
  "FAILED → PENDING", "FAILED → SENT", "CANCELLED → SENT",
]); // biome-ignore format: a list
