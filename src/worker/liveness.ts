import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "../database/pool.ts";
import type { Log } from "../log.ts";

/** The connection that shows that this process lives. */
export interface Liveness {
  /** False while the connection is lost: then others may take over what is not handed over, and nothing may be claimed. */
  readonly alive: boolean;
  close(): Promise<void>;
}

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;

/**
 * Holds a connection on which the worker is registered, and makes it anew whenever it is lost. Rejects when the first
 * one cannot be made.
 * @param options.connect opens a connection
 * @param options.register announces the worker on it
 */
export async function keepAlive(options: {
  connect: () => Promise<Connection>;
  register: (client: Connection) => Promise<void>;
  log: Log;
}): Promise<Liveness> {
  const closing = new AbortController();
  let client: Connection | null = await open();

  async function open(): Promise<Connection> {
    const opened = await options.connect();
    try {
      await options.register(opened);
    } catch (error) {
      await opened.end().catch(() => undefined);
      throw error;
    }
    opened.once("end", () => {
      if (client !== opened || closing.signal.aborted) return;
      client = null;
      options.log("database_lost");
      void reopen();
    });
    return opened;
  }

  async function reopen(): Promise<void> {
    for (let pause = FIRST_PAUSE; !closing.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        const opened = await open();
        // Closed while it was being made: a connection that nobody ends would keep the process alive.
        if (closing.signal.aborted) return void opened.end().catch(() => undefined);
        client = opened;
        options.log("database_back");
        return;
      } catch {
        options.log("database_lost");
        await delay(pause, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  return {
    get alive() {
      return client !== null;
    },
    async close() {
      closing.abort();
      await client?.end().catch(() => undefined);
    },
  };
}
