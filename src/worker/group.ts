import { setImmediate } from "node:timers/promises";

/** Adds an item to the next group; resolves with that item's own result. */
export type Grouped<Item, Result> = (item: Item) => Promise<Result>;

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Makes one call of many: while one is under way, what arrives gathers and goes with the next. What arrives alone is
 * sent at once. A failed call of several items is repeated item by item, so that a bad one fails alone.
 * @param run answers for all items in their order
 * @param options.most items in one call at most
 * @param options.keyOf items with the same key never share a call; default: no keys
 */
export function createGroup<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  options: { most: number; keyOf?: (item: Item) => string },
): Grouped<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let busy = false;

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (busy) return;
      busy = true;
      void drain();
    });

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // What else has arrived is looked at first: under load that makes a group, and an idle loop comes here at once.
      await setImmediate();
      await runGroup(takeGroup());
    }
    busy = false;
  }

  function takeGroup(): Waiting<Item, Result>[] {
    const { keyOf, most } = options;
    if (!keyOf) return waiting.splice(0, most);
    const keys = new Set<string>();
    const group: Waiting<Item, Result>[] = [];
    const rest: Waiting<Item, Result>[] = [];
    for (const one of waiting.splice(0)) {
      const key = keyOf(one.item);
      if (group.length < most && !keys.has(key)) group.push(one);
      else rest.push(one);
      keys.add(key);
    }
    waiting.unshift(...rest);
    return group;
  }

  async function runGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item));
      group.forEach((one, index) => {
        one.resolve(results[index] as Result);
      });
    } catch (error) {
      const [first] = group;
      if (group.length === 1) first?.reject(error);
      else for (const one of group) await runGroup([one]);
    }
  }
}
