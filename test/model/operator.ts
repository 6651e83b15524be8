import { type Action, type Aim, ask, choose, type Group } from "./actions.ts";
import type { Step } from "./machine.ts";
import { mailsOf, type Slot, slotOf } from "./state.ts";
import { type Answer, breaker, cancel, onMatching, pause, resume, retry } from "./waiting.ts";

const ACTS = {
  cancel: { act: cancel, from: "PENDING" },
  retry: { act: retry, from: "FAILED" },
} as const;

/** An action on one mail, or on all that it fits; sometimes on one that is gone. */
export function acts(
  group: Group,
  { action, all, aim }: { action: keyof typeof ACTS; all: boolean; aim: Aim },
): Action | null {
  const { world } = group;
  const { act, from } = ACTS[action];
  if (all) {
    return {
      name: `${action}_matching`,
      async run(on) {
        const { at, result } = await ask(
          on,
          `select coalesce(sum(emails) filter (where outcome in ('cancelled', 'sent to some already', 'retried')), 0) from posthaste.${action}_matching($1)`,
          { since: "2000-01-01" },
        );
        const fitting = [...world.slots.values()].filter((slot) => act(at, "done")(slot).length > 0).length;
        if (group.alone && Number(result) !== fitting) {
          throw new Error(`${action}_matching counts ${result}, and ${fitting} fit`);
        }
        return { everySlot: onMatching(act, at, group.alone) };
      },
    };
  }
  const known = [...mailsOf(world), ...world.leases.filter(({ id }) => aim.wild && slotOf(world, id) === id)];
  const mail = choose<{ id: string; status?: string }>(group, known, ({ status }) => status === from, aim);
  if (!mail) return null;
  return {
    name: `${action} ${mail.id}`,
    async run(on) {
      const { at, answer } = await ask(on, `select (posthaste.${action}(($1 ->> 'id')::uuid)).status`, {
        id: mail.id,
      });
      const step: Step<Slot> = (slot) =>
        slot.mail !== null && slot.mail.id !== mail.id
          ? answer === "PH020"
            ? [slot]
            : []
          : act(at, answer as Answer)(slot);
      return { slots: new Map([[slotOf(world, mail.id), step]]) };
    },
  };
}

/** Pauses the transport or lets it go on. */
export function stops(_: Group, { on: paused }: { on: boolean }): Action {
  return {
    name: paused ? "pause" : "resume",
    async run(on) {
      const call = paused ? "posthaste.pause('default', 'test')" : "posthaste.resume('default')";
      const { answer } = await ask(on, `select ${call}::text, $1`, {});
      return { transport: paused ? pause : resume(answer as Answer) };
    },
  };
}

/** A worker tells the breaker that the server needs a human, or that it answered. */
export function reports(_: Group, { on: open }: { on: boolean }): Action {
  return {
    name: open ? "the breaker opens" : "the breaker closes",
    async run(on) {
      await on.query(
        `select posthaste_private.report_transport('default', $1, null, 'transport_misconfigured', '535 no', '{"failures": 3, "probe": 5000, "max_probe": 60000}')`,
        [open ? "open" : "close"],
      );
      return { transport: breaker(open) };
    },
  };
}
