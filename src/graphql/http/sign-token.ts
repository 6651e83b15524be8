import { SignJWT } from "jose";
import type { TokenSettings } from "../../config.ts";
import { PosthasteError } from "../../errors.ts";
import type { Identity } from "./identity.ts";

/**
 * A token for someone, good for `lifetime` milliseconds.
 * @throws PosthasteError when the settings hold no secret: with a public key only its owner can sign
 */
export function signToken(
  settings: TokenSettings | null,
  identity: Identity,
  lifetime: number,
): Promise<string> {
  if (settings?.key.kind !== "secret") {
    throw new PosthasteError(
      settings === null
        ? "A token needs a secret to sign with: set POSTHASTE_JWT_SECRET to at least 32 random characters, the same for `posthaste serve`."
        : "Tokens are signed by whoever holds the private key of the configured one: `posthaste token` signs with POSTHASTE_JWT_SECRET only.",
    );
  }
  const now = Math.floor(Date.now() / 1000);
  const { role, owner, subject } = identity;
  return new SignJWT({ role, ...(owner !== null && { owner }) })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(subject)
    .setAudience(settings.audience)
    .setIssuer(settings.issuer)
    .setIssuedAt(now)
    .setExpirationTime(now + Math.ceil(lifetime / 1000))
    .sign(new TextEncoder().encode(settings.key.secret));
}
