import { createPublicKey } from "node:crypto";
import type { HttpSettings, TokenSettings } from "../config.ts";
import { masked } from "./masked.ts";
import { integer, problemWith, type Rule, shown, text } from "./rules.ts";
import type { Section } from "./section.ts";

/** Reads `posthaste.http`. Secrets are never shown in a problem. */
export function readHttp(
  section: Section,
  variables: Readonly<Record<string, string | undefined>>,
  environment: string,
  problems: string[],
): HttpSettings {
  const introspection = section.option("introspection", flag, environment !== "production");
  return {
    host: section.option("host", text, "127.0.0.1"),
    port: section.option("port", integer(0, 65_535), 5680),
    origins: section.option("origins", origins, []),
    introspection,
    graphiql: section.option("graphiql", flag, introspection),
    tokens: readTokens(section.section("tokens"), variables, problems),
  };
}

function readTokens(
  section: Section,
  variables: Readonly<Record<string, string | undefined>>,
  problems: string[],
): TokenSettings | null {
  const audience = section.option("audience", text, "posthaste");
  const issuer = section.option("issuer", text, "posthaste");
  const given = KEYS.flatMap(({ option, variable, rule, key }) => {
    const inFile = section.option<string | null>(option, rule, null);
    const value = variables[variable];
    if (!value) return inFile === null ? [] : [{ name: `posthaste.http.tokens.${option}`, key: key(inFile) }];
    const read = rule.read(value);
    if (read === undefined) problems.push(problemWith(variable, rule, value));
    return [{ name: variable, key: key(read ?? "") }];
  });
  const [first, second] = given;
  if (first && second) {
    problems.push(
      `Tokens have one kind of key: ${first.name} and ${second.name} are both set; remove one of them.`,
    );
  }
  return first ? { key: first.key, audience, issuer } : null;
}

const flag: Rule<boolean> = {
  expected: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

const origins: Rule<readonly string[]> = {
  expected: 'a list of origins, such as ["https://admin.shop.example"], without a path',
  read: (value) =>
    Array.isArray(value) &&
    value.every(
      (entry) => typeof entry === "string" && URL.canParse(entry) && new URL(entry).origin === entry,
    )
      ? value
      : undefined,
};

const hidden = (value: unknown): string =>
  typeof value === "string" ? `text of ${value.length} characters` : typeof value;

const secret: Rule<string> = {
  expected: "a secret of at least 32 characters that is no PEM",
  // A public key as a secret would let everybody who has it make tokens.
  read: (value) =>
    typeof value === "string" && value.length >= 32 && !value.includes("-----BEGIN") ? value : undefined,
  show: hidden,
};

const publicKey: Rule<string> = {
  expected: "a public key in PEM, RSA of at least 2048 bits or EC P-256",
  read: (value) => (typeof value === "string" && isUsable(value) ? value : undefined),
  show: hidden,
};

const jwksUrl: Rule<string> = {
  expected: "an https:// URL (http:// only on loopback)",
  show: (value) => (typeof value === "string" ? masked(value) : shown(value)),
  read: (value) => {
    if (typeof value !== "string" || !URL.canParse(value)) return undefined;
    const { protocol, hostname } = new URL(value);
    const loopback = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
    return protocol === "https:" || (protocol === "http:" && loopback) ? value : undefined;
  },
};

const KEYS = [
  {
    option: "secret",
    variable: "POSTHASTE_JWT_SECRET",
    rule: secret,
    key: (value: string): TokenSettings["key"] => ({ kind: "secret", secret: value }),
  },
  {
    option: "publicKey",
    variable: "POSTHASTE_JWT_PUBLIC_KEY",
    rule: publicKey,
    key: (value: string): TokenSettings["key"] => ({ kind: "publicKey", pem: value }),
  },
  {
    option: "jwksUrl",
    variable: "POSTHASTE_JWKS_URL",
    rule: jwksUrl,
    key: (value: string): TokenSettings["key"] => ({ kind: "jwks", url: value }),
  },
] as const;

function isUsable(pem: string): boolean {
  if (!pem.includes("-----BEGIN PUBLIC KEY-----") && !pem.includes("-----BEGIN RSA PUBLIC KEY-----"))
    return false;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
    return asymmetricKeyType === "rsa"
      ? (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
      : asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1";
  } catch {
    return false;
  }
}
