import "./environment.ts";
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { SignJWT } from "jose";
import type { TokenSettings } from "../../src/config.ts";
import { createFailures } from "../../src/graphql/http/failures.ts";
import { createVerifier } from "../../src/graphql/http/verify-token.ts";
import { SECRET, TOKENS, tokenFor } from "./serving.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const settings = (key: TokenSettings["key"]): TokenSettings => ({ ...TOKENS, key });

interface Shape {
  readonly alg?: string;
  readonly key?: KeyObject | Uint8Array;
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
}

/** A token as an issuer makes it, but for what is said. */
function sign({
  alg = "HS256",
  key = new TextEncoder().encode(SECRET),
  claims = {},
  header = {},
}: Shape): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = {
    role: "operator",
    sub: "ann",
    aud: "posthaste",
    iss: "posthaste",
    iat: now,
    exp: now + 60,
    ...claims,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(given)).setProtectedHeader({ alg, ...header }).sign(key);
}

/** A token put together by hand. */
function forge(header: object, payload: object, signature = ""): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(header)}.${part(payload)}.${signature}`;
}

const PAYLOAD = {
  role: "operator",
  aud: "posthaste",
  iss: "posthaste",
  exp: Math.floor(Date.now() / 1000) + 60,
};

suite("a token", () => {
  const { verify } = createVerifier(TOKENS);

  test("says who is asking", async () => {
    assert.deepEqual(await verify(await tokenFor({ role: "viewer", owner: "customer:7", subject: "jane" })), {
      role: "viewer",
      owner: "customer:7",
      subject: "jane",
    });
  });

  const bad: Readonly<Record<string, () => Promise<string>>> = {
    "that has expired": () => sign({ claims: { exp: 1 } }),
    "without an end": () => sign({ claims: { exp: undefined } }),
    "of the future": () =>
      sign({
        claims: { iat: Math.floor(Date.now() / 1000) + 3600, exp: Math.floor(Date.now() / 1000) + 7200 },
      }),
    "that is not good yet": () => sign({ claims: { nbf: Math.floor(Date.now() / 1000) + 3600 } }),
    "for somebody else": () => sign({ claims: { aud: "shop" } }),
    "for nobody": () => sign({ claims: { aud: undefined } }),
    "by somebody else": () => sign({ claims: { iss: "shop" } }),
    "by nobody": () => sign({ claims: { iss: undefined } }),
    "with another secret": () => sign({ key: new TextEncoder().encode(`${SECRET}.`) }),
    "with another algorithm of the same secret": () => sign({ alg: "HS512" }),
    "signed by RSA": () => sign({ alg: "RS256", key: rsa.privateKey }),
    "with a role of the database": () => sign({ claims: { role: "postgres" } }),
    "with Posthaste's role by its full name": () => sign({ claims: { role: "posthaste_operator" } }),
    "without a role": () => sign({ claims: { role: undefined } }),
    "with an owner that is no text": () => sign({ claims: { role: "viewer", owner: ["tenant-a"] } }),
    "with control characters in its subject": () => sign({ claims: { sub: "ann\nnot ann" } }),
    "that is not signed": async () => forge({ alg: "none" }, PAYLOAD),
    "that is not signed, in other letters": async () => forge({ alg: "NoNe" }, PAYLOAD, "x"),
    "that brings its own key": () =>
      sign({ header: { jwk: { kty: "oct", k: "eA" } }, key: new TextEncoder().encode("x") }),
    "that is none": async () => "a.b.c",
  };
  for (const [name, make] of Object.entries(bad)) {
    test(`${name} is no good`, async () => assert.equal(await verify(await make()), null));
  }

  test("is remembered no longer than it is good", async () => {
    let now = Date.now();
    const verifier = createVerifier(TOKENS, () => now);
    const token = await sign({ claims: { exp: Math.floor(now / 1000) + 10 } });
    assert.ok(await verifier.verify(token));
    assert.ok(verifier.known(token));
    now += 11_000;
    assert.equal(verifier.known(token), null);
    now += 5000;
    assert.equal(await verifier.verify(token), null);
  });
});

for (const [alg, pair] of Object.entries({ RS256: rsa, ES256: ec })) {
  suite(`with a public key for ${alg}`, () => {
    const publicKey = pem(pair.publicKey);
    const { verify } = createVerifier(settings({ kind: "publicKey", pem: publicKey }));

    test("tokens of its owner are good", async () => {
      assert.ok(await verify(await sign({ alg, key: pair.privateKey })));
    });

    test("the public key as a secret of HS256 is no good", async () => {
      for (const secret of [
        publicKey,
        publicKey.trim(),
        pair.publicKey.export({ type: "spki", format: "der" }),
      ]) {
        const unsigned = forge({ alg: "HS256", typ: "JWT" }, PAYLOAD).replace(/\.$/, "");
        const signature = createHmac("sha256", secret).update(unsigned).digest("base64url");
        assert.equal(await verify(`${unsigned}.${signature}`), null);
      }
    });

    test("tokens of other keys and algorithms are no good", async () => {
      const [otherAlg, other] = alg === "RS256" ? (["ES256", ec] as const) : (["RS256", rsa] as const);
      assert.equal(await verify(await sign({ alg: otherAlg, key: other.privateKey })), null);
      assert.equal(await verify(await sign({})), null);
      if (alg === "RS256")
        assert.equal(await verify(await sign({ alg: "PS256", key: pair.privateKey })), null);
    });
  });
}

test("with a key set, tokens of its keys are good, by RS256 and ES256", async (t) => {
  const jwk = (key: KeyObject, kid: string) => ({ ...key.export({ format: "jwk" }), kid, use: "sig" });
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ keys: [jwk(rsa.publicKey, "one"), jwk(ec.publicKey, "two")] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  const { verify } = createVerifier(settings({ kind: "jwks", url }));
  assert.ok(await verify(await sign({ alg: "RS256", key: rsa.privateKey, header: { kid: "one" } })));
  assert.ok(await verify(await sign({ alg: "ES256", key: ec.privateKey, header: { kid: "two" } })));
  assert.equal(
    await verify(await sign({ alg: "RS256", key: rsa.privateKey, header: { kid: "three" } })),
    null,
  );
  assert.equal(await verify(await sign({ header: { kid: "one" } })), null);
});

test("an address that fails twenty times in a minute is not heard for the rest of it; others are", () => {
  let now = 0;
  const failures = createFailures(() => now);
  for (let n = 0; n < 20; n++) {
    assert.equal(failures.blocked("10.0.0.1"), 0);
    failures.count("10.0.0.1");
  }
  now = 59_000;
  assert.equal(failures.blocked("10.0.0.1"), 1000);
  assert.equal(failures.blocked("10.0.0.2"), 0);
  now = 60_000;
  assert.equal(failures.blocked("10.0.0.1"), 0);
});
