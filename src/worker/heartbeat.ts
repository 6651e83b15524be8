import type { WorkerEvents } from "graphile-worker";
import type { Store } from "../database/store.ts";
import type { Log } from "../log.ts";
import { createListener } from "./listener.ts";
import type { Liveness } from "./liveness.ts";
import { startLoop } from "./loop.ts";

/** Pause between beats, in milliseconds, until the first echo has come: only then does the database say that we listen. */
const UNPROVEN = 2_000;

/** This worker's signs of life: which pool is its own, and whether notifications reach it. */
export interface Heartbeat {
  attachPool(poolId: string, events: WorkerEvents): void;
  detachPool(): void;
  /** Whether notifications reached it before the latest beat. */
  readonly listening: boolean;
  close(): Promise<void>;
}

/** Beats each `interval` milliseconds, and at once when the pool changes. */
export function startHeartbeat(options: {
  worker: string;
  store: Store;
  liveness: Liveness;
  interval: number;
  log: Log;
  onError: (error: unknown) => void;
}): Heartbeat {
  const { store, liveness, interval, log } = options;
  let poolId: string | null = null;
  let listening = false;
  const listener = createListener({ worker: options.worker, onLost: () => log("listener_lost") });
  const beats = startLoop(
    async () => {
      listening = listener.check();
      if (liveness.alive) await store.beat(poolId, listening);
      return listening ? interval : Math.min(interval, UNPROVEN);
    },
    { pauseAfterError: Math.min(interval, UNPROVEN), onError: options.onError },
  );
  return {
    attachPool(ours, events) {
      poolId = ours;
      listener.follow(events);
      events.on("pool:listen:success", () => beats.within(0));
      beats.within(0);
    },
    detachPool() {
      poolId = null;
      beats.within(0);
    },
    get listening() {
      return listening;
    },
    close: () => beats.close(),
  };
}
