import type pg from "pg";
import type { PublishedTemplate } from "./store.ts";

/**
 * Announces a worker on a connection of its own, whose advisory lock says that it is alive for as long as the
 * connection lives.
 */
export async function registerWorker(
  client: pg.ClientBase,
  worker: {
    readonly id: string;
    readonly host: string;
    readonly version: string;
    readonly defaultTransport: string;
    readonly maxAttempts: number;
    readonly transports: readonly string[];
    readonly templates: readonly PublishedTemplate[];
  },
): Promise<void> {
  await client.query("select posthaste_private.register_worker($1, $2, $3, $4, $5, $6, $7)", [
    worker.id,
    worker.host,
    worker.version,
    worker.defaultTransport,
    worker.maxAttempts,
    worker.transports,
    JSON.stringify(worker.templates),
  ]);
}
