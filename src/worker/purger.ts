import type { PosthasteConfig } from "../config.ts";
import { createPool } from "../database/pool.ts";
import { createRetention } from "../database/retention.ts";
import { describeError, type Log } from "../log.ts";
import { createDeleteFile } from "./delete-file.ts";
import { purge } from "./purge.ts";

/** Milliseconds until another worker goes on with what a stopping one has left, and until a file is tried again. */
const SOON = 60_000;
const LATER = 3_600_000;

/** A worker's purges, one at a time. */
export interface Purger {
  /** Begins one, unless one is under way. It holds up no mail: it takes none of the places of those that are sent. */
  start(): void;
  /** Ends after the step that is under way, and leaves the rest to another worker. */
  close(): Promise<void>;
}

/** Purges on a connection of its own, so that no mail waits for it. */
export function createPurger(options: {
  connectionString: string;
  config: PosthasteConfig;
  log: Log;
}): Purger {
  const { connectionString, config, log } = options;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    const pool = createPool({ connectionString, applicationName: "posthaste purge", max: 1 });
    const retention = createRetention(pool);
    const began = performance.now();
    try {
      const purged = await purge(retention, config.retention, {
        deleteFile: createDeleteFile(config, retention),
        signal: stopping.signal,
      });
      const { emails, keptFiles, complete } = purged;
      const count = emails.SENT + emails.FAILED + emails.CANCELLED;
      const duration = Math.round(performance.now() - began);
      log(complete ? "purge_done" : "purge_cut_short", { count, duration });
      if (keptFiles > 0) log("files_kept", { count: keptFiles });
      if (stopping.signal.aborted) await retention.request(SOON);
      else if (keptFiles > 0) await retention.request(LATER);
    } finally {
      await pool.end();
    }
  }

  return {
    start() {
      if (running !== null || stopping.signal.aborted) return;
      running = run()
        .catch((error) => log("purge_failed", { error: describeError(error) }))
        .finally(() => {
          running = null;
        });
    },
    async close() {
      stopping.abort();
      await running;
    },
  };
}
