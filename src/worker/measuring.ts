import type { PosthasteConfig } from "../config.ts";
import { readMeasurements } from "../database/measurements.ts";
import { createPool } from "../database/pool.ts";
import { describeError, type Log } from "../log.ts";
import type { Instruments } from "../metrics/instruments.ts";
import type { Expose } from "../metrics/metrics.ts";
import { type MetricsServer, serveMetrics } from "../metrics/server.ts";
import type { WorkerState } from "../metrics/worker-gauges.ts";

/** A worker's metrics, and whoever serves them. */
export interface Measuring {
  readonly instruments: Instruments;
  /** The log, each line counted. */
  readonly log: Log;
  /** Answers a scrape. */
  readonly expose: Expose;
  /** Serves /metrics when the configuration says where. Throws a PosthasteError when it cannot. */
  serve(): Promise<void>;
  /** From now on this state is told. */
  tell(state: () => WorkerState): void;
  close(): Promise<void>;
}

/** Milliseconds that the database may take to tell its figures. */
const LONGEST = 10_000;

const NOT_STARTED: WorkerState = { sending: 0, kept: 0, connected: false, listening: false };

/**
 * Counts from the start on; it costs nothing more until somebody scrapes.
 * @param options.knowsTemplate whether the catalogue has a template of that name
 */
export async function createMeasuring(options: {
  config: PosthasteConfig;
  connectionString: string;
  log: Log;
  knowsTemplate: (name: string) => boolean;
}): Promise<Measuring> {
  const { config, log: plain } = options;
  // Every configuration file imports the worker, and only one that runs needs the library.
  const { createWorkerMetrics } = await import("../metrics/metrics.ts");
  let state = () => NOT_STARTED;
  let server: MetricsServer | null = null;
  // Its own connection, opened by a scrape: a slow answer must not take one from the mail.
  const pool = createPool({
    connectionString: options.connectionString,
    applicationName: "posthaste metrics",
    max: 1,
    statementTimeout: LONGEST,
    patience: LONGEST + 5_000,
  });
  const log: Log = (event, fields) => {
    instruments.logged(event);
    plain(event, fields);
  };
  const { instruments, expose } = createWorkerMetrics({
    read: () =>
      readMeasurements(pool).catch((error: unknown) => {
        log("measuring_failed", { error: describeError(error) });
        throw error;
      }),
    knowsTemplate: options.knowsTemplate,
    transports: [...config.transports.keys()],
    state: () => state(),
  });
  return {
    instruments,
    log,
    expose,
    async serve() {
      if (config.metrics === null) return;
      server = await serveMetrics(config.metrics, expose);
      log("metrics_started", { url: server.url });
    },
    tell(told) {
      state = told;
    },
    async close() {
      await server?.close();
      await pool.end();
    },
  };
}
