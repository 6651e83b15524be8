import type { IncomingMessage } from "node:http";
import type { Failures } from "./failures.ts";
import type { Identity } from "./identity.ts";
import { Refused } from "./refused.ts";
import type { TokenVerifier } from "./verify-token.ts";

/** What decides who a request is. */
export interface Gatekeeper {
  /** null: no tokens are configured. */
  readonly verifier: TokenVerifier | null;
  readonly failures: Failures;
  /** Who a request without a token is: on loopback, where the operator of the machine says so. null: nobody. */
  readonly withoutToken: Identity | null;
}

/** Who asks. Throws a refusal (401, 429) when that is nobody. */
export async function authenticate(request: IncomingMessage, gatekeeper: Gatekeeper): Promise<Identity> {
  const { verifier, failures, withoutToken } = gatekeeper;
  const { authorization } = request.headers;
  if (authorization === undefined) {
    if (withoutToken) return withoutToken;
    throw new Refused(401, "Authorization is missing: send a token, `Authorization: Bearer …`.", CHALLENGE);
  }
  const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization)?.[1] ?? "";
  // Whoever was let in a moment ago is let in, although others behind the same address guess.
  const known = verifier?.known(token);
  if (known) return known;
  const address = request.socket.remoteAddress ?? "";
  const wait = failures.blocked(address);
  if (wait > 0) {
    throw new Refused(429, "Too many tokens from this address were no good; try again later.", {
      "Retry-After": String(Math.ceil(wait / 1000)),
    });
  }
  const identity = token === "" ? null : await verifier?.verify(token);
  if (identity) return identity;
  failures.count(address);
  throw new Refused(
    401,
    "The token is no good: it may have expired, or be signed or meant for others.",
    CHALLENGE,
  );
}

const CHALLENGE = { "WWW-Authenticate": 'Bearer error="invalid_token"' };
