/** What was started and must be closed, whatever happens. */
export interface Teardown {
  /** Notes how to close a part that has just been started. After `run` it is closed at once: its start came too late. */
  add(close: () => Promise<unknown>): void;
  /** Closes the parts, the last one first. A part that cannot be closed does not keep the others open. Never rejects. */
  run(): Promise<void>;
}

/** Collects parts as they are started, for commands that start several of them. */
export function createTeardown(): Teardown {
  const parts: (() => Promise<unknown>)[] = [];
  let over = false;
  const closeAll = async (): Promise<void> => {
    for (let close = parts.pop(); close; close = parts.pop()) await close().catch(() => undefined);
  };
  return {
    add(close) {
      parts.push(close);
      if (over) void closeAll();
    },
    async run() {
      over = true;
      await closeAll();
    },
  };
}
