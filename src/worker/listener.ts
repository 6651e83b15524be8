import type { WorkerEvents } from "graphile-worker";

/** Beats without an echo after which a listener that did hear is taken for dead. */
const PATIENCE = 2;

/** Whether notifications reach this process. LISTEN can be lost without any error (graphile/worker#541). */
export interface Listener {
  /** Follows the pool with these events. */
  follow(events: WorkerEvents): void;
  /**
   * Called just before each notification to oneself: whether the last one came back. A connection on which nothing comes
   * back any more is cut, and Graphile Worker makes a new one; behind a pooler, where it never does, polling has to do.
   */
  check(): boolean;
}

/** What of a listening connection can be cut. */
interface Cuttable {
  readonly connection?: { readonly stream?: { destroy(error: Error): void } };
}

/**
 * @param options.worker the name that the echo carries
 * @param options.onLost the listener was heard before, and is silent now
 */
export function createListener(options: { worker: string; onLost: () => void }): Listener {
  let client: Cuttable | null = null;
  let heard = false;
  let everHeard = false;
  let missed = 0;
  return {
    follow(events) {
      events.on("pool:listen:success", (event) => {
        client = event.client as unknown as Cuttable;
        missed = 0;
      });
      events.on("pool:listen:release", () => {
        client = null;
      });
      events.on("pool:listen:notification", ({ message }) => {
        if (!message.payload?.includes(`"${options.worker}"`)) return;
        heard = true;
        everHeard = true;
      });
    },
    check() {
      const echoed = heard;
      heard = false;
      missed = echoed ? 0 : missed + 1;
      if (everHeard && missed === PATIENCE) {
        options.onLost();
        everHeard = false;
        client?.connection?.stream?.destroy(new Error("no notification arrives"));
      }
      return echoed;
    },
  };
}
