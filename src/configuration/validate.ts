import { resolve } from "node:path";
import type { PosthasteConfig } from "../config.ts";
import { formatDuration } from "./durations.ts";
import { readHttp } from "./http.ts";
import { readMetrics } from "./metrics.ts";
import { readRetention } from "./retention.ts";
import {
  allowance,
  duration,
  durations,
  integer,
  mailbox,
  octets,
  oneOf,
  shown,
  text,
  word,
} from "./rules.ts";
import { openSection, type Section } from "./section.ts";
import { readStores } from "./stores.ts";
import { readTransports } from "./transports.ts";

/** Where the options come from. */
export interface ValidationInput {
  /** The scope `posthaste` of the preset; undefined when there is none. */
  readonly options: unknown;
  /** Paths are relative to this folder: the configuration file's, or the working directory. */
  readonly directory: string;
  /** SMTP_URL, POSTHASTE_FROM and what `http` names are read from it, and go before the file's values. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** True when mail is to be sent: then a sender and a transport are demanded. */
  readonly sends: boolean;
}

/**
 * The configuration with defaults filled in, and everything that is wrong with it, each problem one sentence:
 * the option, its rule, the value received (URLs masked), and what to do. Use `config` only without problems.
 */
export function validateConfiguration(input: ValidationInput): {
  readonly config: PosthasteConfig;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const root = openSection(input.options, "posthaste", problems);
  const transports = readTransports(root.section("transports"), input, problems);
  const environment = root.option("environment", word, "production");
  const config: PosthasteConfig = {
    from: readFrom(root, input, problems),
    emails: resolve(input.directory, root.option("emails", text, "./emails")),
    journal: resolve(input.directory, root.option("journal", text, "./.posthaste/journal")),
    transports,
    defaultTransport: transports.keys().next().value ?? "default",
    stores: readStores(root.section("stores"), input.directory, problems),
    maxMessageSize: root.option("maxMessageSize", octets(64_000, 1e12), 40_000_000),
    environment,
    allowedRecipients: root.option("allowedRecipients", allowance, null),
    concurrency: root.option("concurrency", integer(1, 1000), 20),
    // It is renewed each third of it, and a renewal needs a second to spare for a slow database.
    lease: root.option("lease", duration(3000, 24 * HOUR), 60_000),
    maintenanceInterval: root.option("maintenanceInterval", duration(1000, 30_000), 15_000),
    shutdownGrace: root.option("shutdownGrace", duration(0, 24 * HOUR), 25_000),
    timeouts: readTimeouts(root.section("timeouts")),
    retry: readRetry(root.section("retry")),
    breaker: readBreaker(root.section("breaker"), problems),
    onUnknownOutcome: root.option("onUnknownOutcome", oneOf("resend", "fail"), "resend"),
    secretsAfterFailure: root.option("secretsAfterFailure", duration(0), 24 * HOUR),
    retention: readRetention(root.section("retention")),
    http: readHttp(root.section("http"), input.environment, environment, problems),
    metrics: readMetrics(root.section("metrics"), problems),
  };
  root.rejectUnknown();
  checkLog(input, problems);
  return { config, problems };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function readFrom(root: Section, input: ValidationInput, problems: string[]): string {
  const inFile = root.option("from", mailbox, "");
  const variable = input.environment.POSTHASTE_FROM;
  if (!variable) {
    if (input.sends && inFile === "" && !root.names().includes("from")) {
      problems.push("posthaste.from is missing; set it, or POSTHASTE_FROM, to the sender of your mail.");
    }
    return inFile;
  }
  const from = mailbox.read(variable);
  if (from === undefined) {
    problems.push(`POSTHASTE_FROM must be ${mailbox.expected}; received ${JSON.stringify(variable)}.`);
  }
  return from ?? inFile;
}

/** The log reads it itself, and earlier; what it cannot be is told here. */
function checkLog({ environment }: ValidationInput, problems: string[]): void {
  const { POSTHASTE_LOG: format } = environment;
  if (format && format !== "json" && format !== "text") {
    problems.push(`POSTHASTE_LOG must be json or text; received ${shown(format)}.`);
  }
}

function readTimeouts(section: Section): PosthasteConfig["timeouts"] {
  // A limit below 10 ms would refuse every healthy server.
  const limit = duration(10, 24 * HOUR);
  return {
    connect: section.option("connect", limit, 10_000),
    greeting: section.option("greeting", limit, 10_000),
    command: section.option("command", limit, 30_000),
    finalReply: section.option("finalReply", limit, 10 * MINUTE),
    render: section.option("render", limit, 10_000),
    store: section.option("store", limit, 10_000),
  };
}

function readRetry(section: Section): PosthasteConfig["retry"] {
  const delays = [30_000, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR];
  return {
    delays: section.option("delays", durations(1), delays),
    maxAttempts: section.option("maxAttempts", integer(1, 100), 8),
    maxAge: section.option("maxAge", duration(1000), 5 * 24 * HOUR),
  };
}

function readBreaker(section: Section, problems: string[]): PosthasteConfig["breaker"] {
  const probe = section.option("probe", duration(10, 24 * HOUR), 5000);
  const maxProbe = section.option("maxProbe", duration(10, 24 * HOUR), Math.max(60_000, probe));
  if (probe > maxProbe) {
    problems.push(
      `posthaste.breaker.probe must not be longer than breaker.maxProbe; received ${formatDuration(probe)} and ${formatDuration(maxProbe)}: shorten the one or lengthen the other.`,
    );
  }
  return { failures: section.option("failures", integer(1, 1000), 3), probe, maxProbe };
}
