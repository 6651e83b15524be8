import type { Command } from "commander";
import type { PosthasteConfig } from "../config.ts";
import { checkSchema, schemaError } from "../database/check-schema.ts";
import { requireDatabaseUrl } from "../database/database-url.ts";
import { connect } from "../database/pool.ts";
import { createLog, type Log } from "../log.ts";
import { guardProcess } from "../worker/own-process.ts";
import { startWorker, untilSignalled } from "../worker/worker.ts";
import { configurationOf } from "./context.ts";
import { withMetricsPort } from "./metrics-port.ts";
import { awaitedProbes, untilIdle } from "./until-idle.ts";
import { explained } from "./with-ledger.ts";

/** How a worker is run. */
export interface RunOptions {
  /** End when nothing is due and nothing is being sent. */
  readonly once: boolean;
  /** Bring the schema to this version first; null: it must be. */
  readonly migrate: { readonly roles: boolean } | null;
  /** Port for /metrics instead of the configured one. */
  readonly metricsPort: number | undefined;
  /** Starts what runs beside the worker, once the schema is there; it ends after the worker. */
  readonly beside?: (config: PosthasteConfig, log: Log) => Promise<{ stop(): Promise<void> }>;
}

/** Sends mail in this process until a signal comes (or, with `once`, there is nothing to send), and ends the process with exit code 0. */
export async function runWorker(command: Command, options: RunOptions): Promise<void> {
  // A signal that comes while the worker starts ends it in good order too.
  const signalled = untilSignalled();
  const configuration = await configurationOf(command, { sends: true });
  const { preset, databaseUrl, databaseUrlName } = configuration;
  const config = withMetricsPort(configuration.config, options.metricsPort);
  const connectionString = requireDatabaseUrl(databaseUrl, databaseUrlName);
  const inWords = async (error: unknown): Promise<never> => {
    throw await explained(error, connectionString, command.name());
  };
  await prepareSchema(connectionString, options).catch(inWords);
  const log = createLog();
  const guard = guardProcess(log, config.timeouts.render);
  const beside = await options.beside?.(config, log);
  try {
    const probes = options.once ? await awaitedProbes(connectionString) : null;
    const worker = await startWorker({ config, connectionString, preset, log, guard });
    const idle = probes ? untilIdle(worker.engine.store, probes, signalled) : signalled;
    await Promise.race([signalled, idle]).finally(() => worker.stop());
  } catch (error) {
    await inWords(error);
  } finally {
    await beside?.stop();
    guard.close();
  }
  // What has no reply at the end of shutdownGrace is recorded; its connection must not hold the process for minutes.
  process.exit();
}

async function prepareSchema(connectionString: string, options: RunOptions): Promise<void> {
  if (options.migrate) {
    const { migrate } = await import("../database/migrate.ts");
    await migrate({ connectionString, roles: options.migrate.roles, grants: [] });
  }
  const client = await connect({ connectionString, applicationName: "posthaste worker" });
  try {
    const error = schemaError(await checkSchema(client));
    if (error) throw error;
  } finally {
    await client.end();
  }
}
