import { hostname } from "node:os";
import type { PosthasteConfig } from "../config.ts";
import { connect } from "../database/pool.ts";
import { registerWorker } from "../database/register-worker.ts";
import type { Log } from "../log.ts";
import { version } from "../package-root.ts";
import type { TemplateCatalog } from "../templates/load.ts";
import { patienceFor } from "./leases.ts";
import { keepAlive, type Liveness } from "./liveness.ts";
import { published } from "./published-templates.ts";

/** Announces the worker `id` with what it knows now, and again whenever its connection is lost. */
export function keepRegistered(options: {
  id: string;
  config: PosthasteConfig;
  connectionString: string;
  catalog: TemplateCatalog;
  log: Log;
}): Promise<Liveness> {
  const { id, config, connectionString, catalog, log } = options;
  return keepAlive({
    connect: () =>
      connect({
        connectionString,
        applicationName: "posthaste worker alive",
        patience: patienceFor(config.lease),
      }),
    register: (client) =>
      registerWorker(client, {
        id,
        host: `${hostname()}:${process.pid}`,
        version,
        defaultTransport: config.defaultTransport,
        maxAttempts: config.retry.maxAttempts,
        transports: [...config.transports.keys()],
        templates: published(catalog),
      }),
    log,
  });
}
