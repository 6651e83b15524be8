import type { PosthasteConfig } from "../config.ts";
import { integer } from "./option-values.ts";

/** The option of the commands that send: its flags, what it does, and how it is read. */
export const METRICS_PORT = [
  "--metrics-port <number>",
  "serve /metrics for Prometheus on this port (default: posthaste.metrics.port, else not at all)",
  integer(0, 65_535),
] as const;

/** The configuration with the option's port, when there is one. */
export function withMetricsPort(config: PosthasteConfig, port: number | undefined): PosthasteConfig {
  if (port === undefined) return config;
  return { ...config, metrics: { host: config.metrics?.host ?? "127.0.0.1", port } };
}
