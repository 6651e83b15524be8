import fc from "fast-check";
import type { Action, Group } from "./actions.ts";
import { losesJob, maintains, purges, purgesKeys } from "./keeper.ts";
import { acts, reports, stops } from "./operator.ts";
import { enqueueMany, enqueueOne, enqueueTwo, type Request } from "./producer.ts";
import { WORKERS } from "./scene.ts";
import type { Manner } from "./together.ts";
import { claims, extendsLeases, tells } from "./worker.ts";

/** Makes an action of what is there when its turn comes; null when there is nothing to act on. */
export type Plan = (group: Group) => Action | null;

/** One step of a run. */
export type Step =
  | {
      readonly kind: "together";
      readonly focus: number | null;
      readonly plans: readonly { plan: Plan; manner: Manner }[];
    }
  | { readonly kind: "clock"; readonly seconds: number }
  | { readonly kind: "worker"; readonly worker: string; readonly lives: boolean };

const nth = fc.nat(7);
/** True in this many of 100. Numbers would not do: those at the ends of a range are drawn more often. */
const mostly = (share: number) =>
  fc.oneof(
    { weight: 100 - share, arbitrary: fc.constant(false) },
    { weight: share, arbitrary: fc.constant(true) },
  );
const anything = fc.record({ nth, wild: fc.boolean() });
const steady = fc.record({ nth, wild: mostly(10) });
const worker = fc.constantFrom(...WORKERS);
const line = (maxLength: number, minLength = 0) => fc.array(fc.nat(4), { minLength, maxLength });

const request: fc.Arbitrary<Request> = fc.record({
  key: fc.option(fc.nat(3)),
  lines: fc.tuple(line(3, 1), line(1), line(1)),
  secret: mostly(25),
  bad: mostly(3),
  sendIn: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(-3600, 30, 90, 7200) },
  ),
  expiresIn: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(25, 100, 700, 90_000, 90_000) },
  ),
  maxAttempts: fc.constantFrom(1, 2, 3, 8, 8),
});

const keyed = fc.tuple(request, fc.nat(3)).map(([request, key]) => ({ ...request, key }));

const ending = fc.record({
  way: fc.nat(11),
  refused: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(31) }),
  wait: fc.constantFrom(0, 0, 0, 20, 3000),
});

const weighted = <T>(
  weight: number,
  arbitrary: fc.Arbitrary<T>,
  make: (group: Group, options: T) => Action | null,
) => ({
  weight,
  arbitrary: arbitrary.map(
    (options): Plan =>
      (group) =>
        make(group, options),
  ),
});
const telling = { aim: steady, ending, more: fc.nat(2), replay: fc.constant(false) };

const PRODUCING = [
  weighted(8, request, enqueueOne),
  weighted(2, fc.tuple(keyed, keyed), enqueueTwo),
  weighted(2, fc.array(request, { minLength: 2, maxLength: 3 }), enqueueMany),
];
const CLAIMING = [
  weighted(24, fc.record({ worker, aim: steady, more: fc.nat(2), jobDone: mostly(80) }), claims),
];
const SENDING = [
  weighted(2, fc.record({ aim: steady, handOver: fc.constant(false), bits: fc.constant(0) }), extendsLeases),
  weighted(
    20,
    fc.record({ aim: steady, handOver: fc.constant(true), bits: fc.constantFrom(0, 1, 2, 3, 5, 31, 31) }),
    extendsLeases,
  ),
  weighted(14, fc.record(telling), tells),
  weighted(4, fc.record({ ...telling, aim: anything, replay: fc.constant(true) }), tells),
];
const ACTING = [
  weighted(3, fc.record({ action: fc.constant("cancel" as const), all: mostly(10), aim: steady }), acts),
  weighted(6, fc.record({ action: fc.constant("retry" as const), all: mostly(20), aim: steady }), acts),
];
const KEEPING = [weighted(12, fc.constant(null), maintains)];
const PURGING = [
  weighted(
    3,
    fc.record({
      status: fc.constantFrom("SENT", "FAILED", "CANCELLED"),
      hours: fc.constantFrom(0, 0, 1, 24),
      archive: fc.boolean(),
    }),
    purges,
  ),
  weighted(1, fc.constant(null), purgesKeys),
];
const STOPPING = [
  weighted(3, fc.record({ on: mostly(20) }), stops),
  weighted(3, fc.record({ on: mostly(20) }), reports),
  weighted(2, fc.record({ aim: steady, how: fc.nat(2) }), losesJob),
]; // biome-ignore format: a table

const plan = fc.oneof(...PRODUCING, ...CLAIMING, ...SENDING, ...ACTING, ...KEEPING, ...PURGING, ...STOPPING);
/** Those who meet at the same mails are put together more often than chance would. */
const meeting = fc.oneof(
  { weight: 4, arbitrary: fc.constant(plan) },
  { weight: 2, arbitrary: fc.constant(fc.oneof(...PRODUCING, ...PURGING)) },
  { weight: 2, arbitrary: fc.constant(fc.oneof(...CLAIMING, ...ACTING, ...KEEPING)) },
  { weight: 2, arbitrary: fc.constant(fc.oneof(...SENDING, ...ACTING, ...KEEPING)) },
);

const manner: fc.Arbitrary<Manner> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Manner>("at once") },
  { weight: 3, arbitrary: fc.constant<Manner>("commits last") },
  { weight: 1, arbitrary: fc.constant<Manner>("rolls back") },
);

/** Every step of a run, those that need each other often enough. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: plan.map(
      (plan): Step => ({ kind: "together", focus: null, plans: [{ plan, manner: "at once" }] }),
    ),
  },
  {
    weight: 6,
    arbitrary: meeting.chain((plan) =>
      fc.record({
        kind: fc.constant("together" as const),
        focus: fc.option(nth, { freq: 2 }),
        plans: fc.array(fc.record({ plan, manner }), { minLength: 2, maxLength: 4 }),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(20, 20, 70, 70, 130, 130, 700, 700, 700, 4000, 90_000, 450_000, -30, -4000)
      .map((seconds): Step => ({ kind: "clock", seconds })),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("worker" as const), worker, lives: mostly(70) }) },
);
