import { Registry } from "@prometheus-io/client";
import type { Measurements } from "../database/measurements.ts";
import { createCached } from "./cached.ts";
import { createDatabaseGauges } from "./database-gauges.ts";
import { createInstruments, type Instruments } from "./instruments.ts";
import { createProcessGauges } from "./process-gauges.ts";
import { createWorkerGauges, type WorkerState } from "./worker-gauges.ts";

/** An answer to a scrape, in Prometheus' text format. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

/** Answers a scrape. Costs the database one short query in ten seconds, however often it is called. */
export type Expose = () => Promise<Exposition>;

/** Metrics of a process that does not send: the database's, as every worker tells them too. */
export function createHttpMetrics(read: () => Promise<Measurements>): Expose {
  const registry = new Registry();
  createProcessGauges(registry, "http");
  return exposeWith(registry, read);
}

/**
 * Metrics of a worker, in a registry of their own.
 * @param options.read reads the database's figures
 * @param options.knowsTemplate whether the catalogue has a template of that name
 * @param options.transports names in the configuration
 * @param options.state what the worker tells of itself
 */
export function createWorkerMetrics(options: {
  read: () => Promise<Measurements>;
  knowsTemplate: (name: string) => boolean;
  transports: readonly string[];
  state: () => WorkerState;
}): { readonly instruments: Instruments; readonly expose: Expose } {
  const registry = new Registry();
  createProcessGauges(registry, "worker");
  createWorkerGauges(registry, options.state);
  const instruments = createInstruments(registry, {
    template: options.knowsTemplate,
    transports: options.transports,
  });
  return { instruments, expose: exposeWith(registry, options.read) };
}

function exposeWith(registry: Registry, read: () => Promise<Measurements>): Expose {
  const readings = createCached(read);
  const fill = createDatabaseGauges(registry);
  return async () => {
    fill(await readings());
    return { contentType: registry.contentType, body: await registry.metrics() };
  };
}
