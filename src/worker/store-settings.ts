import type { PosthasteConfig } from "../config.ts";
import type { StoreSettings } from "../database/store.ts";
import { parseMailbox } from "../message/addresses.ts";

/** What the configuration says about a worker's calls of the database. */
export function storeSettings(config: PosthasteConfig, worker: string): StoreSettings {
  return {
    worker,
    lease: config.lease,
    environment: config.environment,
    messageDomain: domainOf(config.from),
    policy: {
      delays: config.retry.delays,
      max_age: config.retry.maxAge,
      on_unknown_outcome: config.onUnknownOutcome,
      secrets_after_failure: config.secretsAfterFailure,
    },
    breaker: {
      failures: config.breaker.failures,
      probe: config.breaker.probe,
      max_probe: config.breaker.maxProbe,
    },
  };
}

/** The right-hand side of Message-IDs: the sender's domain. */
function domainOf(from: string): string {
  return parseMailbox(from)?.wire.split("@")[1] ?? "posthaste.invalid";
}
