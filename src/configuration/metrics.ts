import type { MetricsSettings } from "../config.ts";
import { integer, text } from "./rules.ts";
import type { Section } from "./section.ts";

/** Reads `posthaste.metrics`; null when it names no port. */
export function readMetrics(section: Section, problems: string[]): MetricsSettings | null {
  const host = section.option("host", text, "127.0.0.1");
  const port = section.option<number | null>("port", integer(0, 65_535), null);
  if (port === null && section.names().includes("host") && !section.names().includes("port")) {
    problems.push(
      "posthaste.metrics.port is missing: without it nothing is served on posthaste.metrics.host.",
    );
  }
  return port === null ? null : { host, port };
}
