import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { TokenSettings } from "../../config.ts";
import { type Identity, identityOf } from "./identity.ts";

/** Checks tokens. */
export interface TokenVerifier {
  /** Who the token is; null when it is no good, whatever the reason. */
  verify(token: string): Promise<Identity | null>;
  /** The same, but only from memory: a token that was good a moment ago. */
  known(token: string): Identity | null;
}

/** Seconds that clocks may differ. */
const TOLERANCE = 5;
/** Milliseconds that a good token is remembered. */
const MEMORY = 60_000;
const MOST_REMEMBERED = 1000;

/**
 * A verifier for one kind of key. The algorithms follow from the settings, never from the token, so `none` and a public
 * key that is taken for a secret come to nothing. `exp`, `aud` and `iss` must be there; a token of the future is no good.
 */
export function createVerifier(settings: TokenSettings, now: () => number = Date.now): TokenVerifier {
  const { key, algorithms } = keyOf(settings);
  const remembered = new Map<string, { identity: Identity; until: number }>();

  function known(token: string): Identity | null {
    const entry = remembered.get(digest(token));
    return entry && entry.until > now() ? entry.identity : null;
  }

  return {
    known,
    async verify(token) {
      const before = known(token);
      if (before) return before;
      try {
        const { payload } = await jwtVerify(token, key as KeyObject, {
          algorithms,
          audience: settings.audience,
          issuer: settings.issuer,
          requiredClaims: ["exp", "aud", "iss"],
          clockTolerance: TOLERANCE,
          currentDate: new Date(now()),
        });
        if ((payload.iat ?? 0) * 1000 > now() + TOLERANCE * 1000) return null;
        const identity = identityOf(payload);
        if (identity) {
          if (remembered.size >= MOST_REMEMBERED) remembered.clear();
          const until = Math.min(now() + MEMORY, (payload.exp ?? 0) * 1000);
          remembered.set(digest(token), { identity, until });
        }
        return identity;
      } catch {
        return null;
      }
    },
  };
}

function keyOf({ key }: TokenSettings): {
  key: Uint8Array | KeyObject | JWTVerifyGetKey;
  algorithms: string[];
} {
  switch (key.kind) {
    case "secret":
      return { key: new TextEncoder().encode(key.secret), algorithms: ["HS256"] };
    case "publicKey": {
      const publicKey = createPublicKey(key.pem);
      return { key: publicKey, algorithms: [publicKey.asymmetricKeyType === "rsa" ? "RS256" : "ES256"] };
    }
    case "jwks":
      return {
        key: createRemoteJWKSet(new URL(key.url), { timeoutDuration: 5000 }),
        algorithms: ["RS256", "ES256"],
      };
  }
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
