import type { IncomingMessage } from "node:http";
import { Refused } from "./refused.ts";

/** Which pages may ask. */
export interface OriginRules {
  readonly origins: readonly string[];
  /** Requests need no token: then the Host must be loopback's own, or a page could get in by a name that it makes resolve to it. */
  readonly loopbackOnly: boolean;
}

/**
 * The headers of the answer to a page of a foreign origin that is let in; none for programs and for the server's own pages.
 * Throws a refusal (403) for every other page.
 */
export function checkOrigin({ headers }: IncomingMessage, rules: OriginRules): Record<string, string> {
  const { host = "", origin } = headers;
  if (rules.loopbackOnly && !LOOPBACK.test(host)) {
    throw new Refused(403, "Without tokens this server is asked by 127.0.0.1 or localhost only.");
  }
  if (origin === undefined) return {};
  if (rules.origins.includes(origin)) {
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "authorization, content-type",
      "Access-Control-Max-Age": "600",
      Vary: "Origin",
    };
  }
  // A proxy in front may speak TLS, so the scheme says nothing.
  if (URL.canParse(origin) && new URL(origin).host === host) return {};
  throw new Refused(403, "Pages of this origin may not ask: add it to posthaste.http.origins.");
}

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;
