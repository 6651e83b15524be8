import type pg from "pg";
import { type Action, type Aim, choose, type Group } from "./actions.ts";
import { claim, end, extend, onMail, POLICY, type Step } from "./machine.ts";
import { type Ending, isUnbearable, outcomeFor } from "./outcome.ts";
import { type Lease, type Mail, mailsOf, type Slot, slotOf, type Told } from "./state.ts";

/** Takes up to three mails, one of them aimed at; `jobDone` says whether their jobs end with it. */
export function claims(
  group: Group,
  { worker, aim, more, jobDone }: { worker: string; aim: Aim; more: number; jobDone: boolean },
): Action | null {
  const { world } = group;
  const mails = mailsOf(world);
  const first = choose(group, mails, ({ status, due }) => status === "PENDING" && due <= world.now, aim);
  if (!first) return null;
  const others = mails.filter(({ id }) => id !== first.id);
  const asked = [first, ...others.slice(0, more)];
  return {
    name: `${worker} claims ${asked.map(({ id }) => id)}`,
    waitsFor: [],
    async run(on) {
      const { rows } = await on.query(
        `select model.micros(now()) as at, coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'token', c.lease_token,
           'delivered', c.delivered_to, 'refused', array(select jsonb_object_keys(c.refused) order by 1)))
         from posthaste_private.claim($1, $2, '60 seconds', 'production', 'shop.example') c), '[]') as got`,
        [asked.map(({ id }) => id), worker],
      );
      const { at } = rows[0];
      const got: { id: string; token: string; delivered: string[]; refused: string[] }[] = rows[0].got;
      if (jobDone && group.alone) {
        await on.query(
          "select graphile_worker.remove_job('posthaste:' || t.id) from unnest($1::text[]) t(id)",
          [got.map(({ id }) => id)],
        );
      }
      const slots = asked.map(({ id }): [string, Step<Slot>] => {
        const one = got.find((row) => row.id === id) ?? null;
        const ask = { at, worker, got: one, blocked: group.blocked, alone: group.alone };
        return [slotOf(world, id), onMail(id, claim(ask), one === null)];
      });
      const committed = () => {
        for (const { id, token, delivered, refused } of got) {
          const { addresses, secret } = asked.find((mail) => mail.id === id) as Mail;
          const envelope = [...new Set(addresses)].filter(
            (a) => !delivered.includes(a) && !refused.includes(a),
          );
          world.leases.push({
            id,
            token,
            worker,
            addresses,
            envelope,
            secret,
            granted: false,
            truth: [],
            told: [],
          });
        }
      };
      return { slots: new Map(slots), committed };
    },
  };
}

/** Renews leases, or hands one over: `bits` are whom the mail server takes the message for, if it gets it. */
export function extendsLeases(
  group: Group,
  { aim, handOver, bits }: { aim: Aim; handOver: boolean; bits: number },
): Action | null {
  const { world } = group;
  const usable = world.leases.filter(
    (lease) => !handOver || (!group.busy.has(lease) && lease.told.length === 0 && !lease.granted),
  );
  const first = choose(group, usable, isHeld(group), aim);
  if (!first) return null;
  const leases = handOver
    ? [first]
    : [...new Map(usable.concat(first).map((each) => [each.id, each])).values()];
  for (const lease of leases) if (handOver) group.busy.add(lease);
  return {
    name: `${handOver ? "hand over" : "renew"} ${leases.map(({ id, worker }) => `${id} of ${worker}`)}`,
    async run(on) {
      const { rows } = await on.query(
        `select model.micros(now()) as at, array(select posthaste_private.extend_leases($1, $2, '60 seconds', $3))::text[] as held`,
        [leases.map(({ id }) => id), leases.map(({ token }) => token), handOver],
      );
      const { at, held } = rows[0] as { at: number; held: string[] };
      const slots = leases.map(({ id, token }): [string, Step<Slot>] => {
        const granted = held.includes(id);
        return [slotOf(world, id), onMail(id, extend({ at, token, handOver, granted }), !granted)];
      });
      const committed = () => {
        if (!handOver || !held.includes(first.id)) return;
        first.granted = true;
        const taken = isUnbearable(first) && bits < 5 ? 0 : bits;
        first.truth = first.envelope.filter((_, n) => (taken >> n) & 1);
        for (const address of first.truth) {
          const copy = `${first.id} ${address}`;
          world.copies.set(copy, (world.copies.get(copy) ?? 0) + 1);
        }
      };
      return { slots: new Map(slots), committed };
    },
  };
}

/** Tells how attempts ended: one aimed at, and others of the same group. A replay tells again what was told. */
export function tells(
  group: Group,
  { aim, ending, more, replay }: { aim: Aim; ending: Ending; more: number; replay: boolean },
): Action | null {
  const { world } = group;
  const usable = world.leases.filter((lease) =>
    replay ? lease.told.length > 0 : !group.busy.has(lease) && isUnsaid(lease),
  );
  const first = choose(group, usable, isHeld(group), aim);
  if (!first) return null;
  // Each mail at most once in one call.
  const others = new Map(usable.filter(({ id }) => id !== first.id).map((lease) => [lease.id, lease]));
  const leases = [first, ...[...others.values()].slice(0, more)];
  const outcomes = leases.map((lease) => {
    if (!replay) group.busy.add(lease);
    return replay ? (lease.told.at(-1) as Told) : outcomeFor(lease, ending);
  });
  return {
    name: `${replay ? "tell again" : "tell"} ${JSON.stringify(outcomes)}`,
    async run(on) {
      const { rows } = await on.query(
        `select model.micros(now()) as at, r.id, r.applied from posthaste_private.record_outcomes($1, $2) r`,
        [JSON.stringify(outcomes), JSON.stringify(POLICY)],
      );
      // Two statements, which others may come between; in one transaction they would hold more than a worker ever does.
      if (group.alone) await reportBreaks(on, outcomes);
      const slots = outcomes.map((told): [string, Step<Slot>] => {
        const row = rows.find(({ id }) => id === told.id);
        const step = onMail(
          told.id,
          (mail) => {
            const { applied, mails } = end(mail, told, row.at, group.alone ? world.transport : "either");
            return applied === row.applied ? mails : [];
          },
          row.applied === "gone",
        );
        return [slotOf(world, told.id), step];
      });
      const committed = () => {
        if (!replay) for (const [n, lease] of leases.entries()) lease.told.push(outcomes[n] as Told);
      };
      return { slots: new Map(slots), committed };
    },
  };
}

/** A worker goes on to tell the breaker of mail that the server has broken off. It is far from opening by that. */
async function reportBreaks(on: Pick<pg.ClientBase, "query">, outcomes: readonly Told[]): Promise<void> {
  for (const { id } of outcomes.filter(({ refund }) => refund === "unproven")) {
    await on.query(
      `select posthaste_private.report_transport('default', 'count', null, 'transport_unavailable', '421 bye',
         '{"failures": 1000000, "probe": 5000, "max_probe": 60000}', $1)`,
      [id],
    );
  }
}

/** Nothing was told, or only that the outcome is unknown: the truth may still come, from a journal. */
function isUnsaid({ told }: Lease): boolean {
  return told.every(({ kind }) => kind === "unknown");
}

function isHeld({ world }: Group): (lease: Lease) => boolean {
  const held = new Set(mailsOf(world).map(({ token }) => token));
  return ({ token }) => held.has(token);
}
