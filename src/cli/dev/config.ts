import { join } from "node:path";
import type { PosthasteConfig, TransportSettings } from "../../config.ts";
import { DEVELOPMENT } from "../../worker/identity.ts";

/**
 * The configuration as `dev` uses it: every transport leads to the catcher, and it is never production's.
 * @param smtpUrl of the catcher
 * @param home folder for what is kept
 */
export function developmentConfig(config: PosthasteConfig, smtpUrl: string, home: string): PosthasteConfig {
  const names = config.transports.size === 0 ? ["default"] : [...config.transports.keys()];
  const transports = names.map((name): [string, TransportSettings] => [
    name,
    {
      connections: 10,
      idempotencyHeader: config.transports.get(name)?.idempotencyHeader ?? null,
      url: smtpUrl,
    },
  ]);
  return {
    ...config,
    from: config.from === "" ? "Development <no-reply@development.example>" : config.from,
    environment: config.environment === "production" ? DEVELOPMENT : config.environment,
    journal: join(home, "journal"),
    // The catcher answers at once, and nobody wants to wait after Ctrl-C.
    shutdownGrace: Math.min(config.shutdownGrace, 3000),
    transports: new Map(transports),
  };
}
