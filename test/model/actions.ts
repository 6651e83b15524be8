import type pg from "pg";
import type { Perhaps, Step } from "./machine.ts";
import type { Lease, Slot, Transport, World } from "./state.ts";

/** What one actor does with one statement, and by which steps the model does the same. */
export interface Action {
  /** For the printed case. */
  readonly name: string;
  /** Runs on a connection of its own, perhaps inside a transaction. */
  run(on: Pick<pg.ClientBase, "query">): Promise<Effects>;
  /** Beginnings of the names of those it may wait for; without it, anyone. Nobody's open transaction may hold it up otherwise. */
  readonly waitsFor?: readonly string[];
  /** What it does next in the same transaction, once the others have their answers or wait for it. */
  readonly next?: Action;
}

/** What the model makes of an answer. */
export interface Effects {
  /** By slot; a slot that is not named does not change. */
  readonly slots?: ReadonlyMap<string, Step<Slot>>;
  /** On every slot, those included that come to be at the same time. */
  readonly everySlot?: Step<Slot>;
  readonly transport?: Step<Transport>;
  /** What the actor knows once it is committed. */
  readonly committed?: () => void;
}

/** What the actions of a group know about each other. */
export interface Group {
  readonly world: World;
  /** No other action runs at that time. */
  readonly alone: boolean;
  /** The mail at which all of them aim; null: each at its own. */
  readonly focus: string | null;
  /** Whether something changed at that time. */
  readonly blocked: Perhaps;
  readonly workerIsGone: (worker: string) => Perhaps;
  /** Leases that an action of the group uses: a worker does one thing at a time with a mail. */
  readonly busy: Set<Lease>;
}

/** Where an action aims: the n-th of what fits, or of everything when it is wild. */
export interface Aim {
  readonly nth: number;
  readonly wild: boolean;
}

/** Chooses of a list; the group's mail goes first. */
export function choose<T extends { readonly id: string }>(
  group: Group,
  all: readonly T[],
  fits: (one: T) => boolean,
  { nth, wild }: Aim,
): T | undefined {
  const focused = all.filter(({ id }) => id === group.focus);
  const list = focused.length > 0 ? focused : wild ? all : all.filter(fits);
  return list[nth % list.length];
}

/** Runs a statement with one argument, `$1`, as jsonb; its answer, or the code of its refusal. Every other error is a failure. */
export async function ask(
  on: Pick<pg.ClientBase, "query">,
  statement: string,
  value: object,
): Promise<{ answer: string; result: string | null; at: number }> {
  const { rows } = await on.query("select * from model.answer($1, $2)", [statement, JSON.stringify(value)]);
  return rows[0];
}
