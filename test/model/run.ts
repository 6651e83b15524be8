import fc from "fast-check";
import type { Group } from "./actions.ts";
import { type Step as Planned, step as steps } from "./commands.ts";
import { explain, sameSlot } from "./explain.ts";
import type { Perhaps, Step } from "./machine.ts";
import { brokenPromises, CHART, withoutJob } from "./promises.ts";
import { type Actual, adopt, type Scene } from "./scene.ts";
import { EMPTY, emptyWorld, mailsOf, type Slot, type Transport, type World } from "./state.ts";
import { type Manner, together } from "./together.ts";

/** What the runs did. */
export interface Tally {
  runs: number;
  /** Actions of all actors, moves of the clock, deaths and returns. */
  commands: number;
  /** Groups of actions that ran at the same time. */
  groups: number;
  /** How often each step of the chart was made. */
  readonly steps: Map<string, number>;
  /** Runs in which a mail went to an address more than once; each has its flag. */
  duplicates: number;
}

/** Before the first run. */
export function emptyTally(): Tally {
  return { runs: 0, commands: 0, groups: 0, steps: new Map(), duplicates: 0 };
}

interface Real {
  readonly scene: Scene;
  readonly tally: Tally;
}

/** A property that holds when every run of commands goes as the model says. */
export function property(scene: Scene, tally: Tally, maxCommands: number) {
  const commands = fc.commands(
    [
      steps.map((step) => {
        const names: string[] = [];
        return {
          check: () => true,
          run: (world: World, real: Real) => perform(step, world, real, names),
          toString: () => names.join(" | ") || "nothing",
        };
      }),
    ],
    { maxCommands, size: "max" },
  );
  return fc.asyncProperty(commands, async (list) => {
    await scene.reset();
    const model = emptyWorld();
    await fc.asyncModelRun(async () => {
      adopt(model, await scene.read(), new Map());
      return { model, real: { scene, tally } };
    }, list);
    tally.runs++;
    if ([...model.copies.values()].some((times) => times > 1)) tally.duplicates++;
    for (const [step, times] of await scene.steps()) {
      if (!CHART.has(step)) throw new Error(`the chart has no step ${step}`);
      tally.steps.set(step, (tally.steps.get(step) ?? 0) + times);
    }
  });
}

async function perform(step: Planned, world: World, { scene, tally }: Real, names: string[]): Promise<void> {
  names.length = 0;
  if (step.kind === "clock") {
    names.push(`the clock moves by ${step.seconds} s`);
    tally.commands++;
    await scene.database.query("select model.move_clock($1 * interval '1 second')", [step.seconds]);
    for (const [name, slot] of world.slots) world.slots.set(name, earlier(slot, step.seconds * 1e6));
    return check(world, await scene.read(), new Map(), [], [], names);
  }
  if (step.kind === "worker") {
    const lives = scene.living.has(step.worker);
    if (lives === step.lives) return;
    names.push(`${step.worker} ${step.lives ? "starts" : "dies"}`);
    tally.commands++;
    await (step.lives ? scene.start(step.worker) : scene.die(step.worker));
    return check(world, await scene.read(), new Map(), [], [], names);
  }

  const mails = mailsOf(world);
  const alone = step.plans.length === 1;
  const group: Group = {
    world,
    alone,
    focus: (step.focus !== null && mails[step.focus % mails.length]?.id) || null,
    blocked: alone ? flows(world) : "either",
    // Maintenance forgets the dead first, so that only the living are there.
    workerIsGone: (worker) => (scene.living.has(worker) ? "no" : "yes"),
    busy: new Set(),
  };
  const actions = step.plans.flatMap(({ plan, manner }) => {
    const action = plan(group);
    return action ? { action, manner: alone ? ("at once" as Manner) : manner } : [];
  });
  if (actions.length === 0) return;
  names.push(...actions.map(({ action, manner }) => (alone ? action.name : `${action.name} (${manner})`)));
  tally.commands += actions.length;
  if (actions.length > 1) tally.groups++;

  const effects = await together(scene, actions);
  const bySlot = new Map<string, Step<Slot>[]>();
  for (const { slots } of effects) {
    for (const [name, each] of slots ?? []) bySlot.set(name, [...(bySlot.get(name) ?? []), each]);
  }
  const sweeps = effects.flatMap(({ everySlot }) => everySlot ?? []);
  const onTransport = effects.flatMap(({ transport }) => transport ?? []);
  const before = new Set(mails.filter(({ status }) => status === "PENDING").map(({ id }) => id));
  const actual = await scene.read();
  check(world, actual, bySlot, sweeps, onTransport, names);
  for (const { committed } of effects) committed?.();
  promise(brokenPromises(world), world, names);
  if (alone && names[0] === "maintain") promise(withoutJob(world), world, names);
  // Who begins to wait has a job from the same transaction.
  if (alone) promise(withoutJob(onlyNew(world, before)), world, names);
}

/** Explains what is found by the steps, slot by slot, and goes on from there. */
function check(
  world: World,
  actual: Actual,
  bySlot: ReadonlyMap<string, Step<Slot>[]>,
  sweeps: readonly Step<Slot>[],
  onTransport: readonly Step<Transport>[],
  names: readonly string[],
): void {
  const explained = new Map<string, Slot>();
  for (const name of new Set([...world.slots.keys(), ...actual.slots.keys(), ...bySlot.keys()])) {
    const before = world.slots.get(name) ?? EMPTY;
    const found = actual.slots.get(name);
    const steps = [...(bySlot.get(name) ?? []), ...sweeps];
    const after = explain(before, steps, (slot) => sameSlot(slot, found));
    if (after === undefined) {
      const expected = steps.map((each) => each(before));
      throw new Error(
        `No order explains ${name} after ${names.join(" | ")}:\n${print({ before, found, expected })}`,
      );
    }
    explained.set(name, after);
  }
  const same = (transport: Transport) => print(transport) === print(ordered(actual.transport));
  if (explain(ordered(world.transport), onTransport, same) === undefined) {
    throw new Error(`No order explains the transport after ${names.join(" | ")}: ${print(actual.transport)}`);
  }
  adopt(world, actual, explained);
}

function promise(broken: readonly string[], world: World, names: readonly string[]): void {
  if (broken.length === 0) return;
  throw new Error(`After ${names.join(" | ")}: ${broken.join("; ")}\n${print(mailsOf(world))}`);
}

function flows({ transport }: World): Perhaps {
  return transport.paused || transport.open ? "yes" : "no";
}

function onlyNew(world: World, before: ReadonlySet<string>): World {
  const slots = [...world.slots].filter(([, { mail }]) => mail && !before.has(mail.id));
  return { ...world, slots: new Map(slots) };
}

/** What the steps say of it; the evidence is only read. */
function ordered({ paused, open }: Transport): Transport {
  return { paused, open, servedAt: null, outageAt: null };
}

/** The clock moves on: seen from now, every time lies that much earlier. */
function earlier({ key, mail }: Slot, by: number): Slot {
  const moved = <T extends number | null>(at: T) => (at === null ? at : at - by) as T;
  return {
    key: key && { ...key, until: moved(key.until) },
    mail: mail && {
      ...mail,
      leaseUntil: moved(mail.leaseUntil),
      due: moved(mail.due),
      dueUntil: moved(mail.dueUntil),
      sendAt: moved(mail.sendAt),
      createdAt: moved(mail.createdAt),
      expiresAt: moved(mail.expiresAt),
      endedAt: moved(mail.endedAt),
      brokenOff: moved(mail.brokenOff),
    },
  };
}

function print(value: unknown): string {
  return JSON.stringify(value, null, 1);
}
