import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { bareEnvironment } from "../bare-environment.ts";
import { folder, posthaste } from "../cli/posthaste.ts";
import { createTestDatabase } from "../database.ts";
import { enqueue } from "../sql/mails.ts";
import { httpLogin, SECRET } from "./serving.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const FILES = {
  "graphile.config.mjs": 'export default { posthaste: { environment: "test" } };',
  "emails/_": "",
};

test("serve and token: from the command line to an answer, until SIGTERM", async (t) => {
  const database = await createTestDatabase(t);
  const id = await enqueue(database.pool, { owner: "customer:7" });
  const { connectionString } = await httpLogin(database);
  const directory = folder(t, FILES);
  const environment = {
    POSTHASTE_HTTP_DATABASE_URL: connectionString,
    POSTHASTE_JWT_SECRET: SECRET,
    POSTHASTE_LOG: "json",
  };
  const child = spawn(process.execPath, ["--conditions=posthaste-source", MAIN, "serve", "--port", "0"], {
    cwd: directory,
    env: { ...bareEnvironment, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  try {
    let said = "";
    for await (const chunk of child.stderr.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      said += chunk;
      if (said.includes("http_started")) break;
    }
    const [, url] = /"url":"([^"]+)"/.exec(said) ?? [];
    const made = await posthaste(
      directory,
      ["token", "--role", "viewer", "--owner", "customer:7", "--for", "30d", "--json"],
      environment,
    );
    const { token, role, expiresAt } = JSON.parse(made.stdout);
    assert.equal(role, "viewer");
    assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 30 * 86_400_000) < 60_000);
    const answer = await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: "{ emails { nodes { id } } }" }),
    });
    assert.deepEqual(await answer.json(), { data: { emails: { nodes: [{ id }] } } });
  } finally {
    child.kill("SIGTERM");
  }
  assert.deepEqual(await ended, [0, null]);
});

test("serve refuses what would be unsafe, and says what to do", async (t) => {
  const database = await createTestDatabase(t);
  const login = await httpLogin(database);
  const directory = folder(t, FILES);
  const serve = (args: readonly string[], environment: Record<string, string> = {}) =>
    posthaste(directory, ["serve", ...args], {
      POSTHASTE_HTTP_DATABASE_URL: login.connectionString,
      ...environment,
    });
  const refused = async (
    args: readonly string[],
    environment: Record<string, string>,
    code: number,
    message: RegExp,
  ) => {
    const { code: exit, stderr } = await serve(args, environment);
    assert.match(stderr, message);
    assert.equal(exit, code);
  };
  await refused(["--host", "0.0.0.0"], {}, 2, /tokens must be configured/);
  await refused(
    ["--host", "0.0.0.0", "--as", "operator"],
    { POSTHASTE_JWT_SECRET: SECRET },
    2,
    /only loopback/,
  );
  await refused([], { POSTHASTE_HTTP_DATABASE_URL: "" }, 2, /create role shop_http login noinherit/);
  await refused(
    [],
    { POSTHASTE_HTTP_DATABASE_URL: database.connectionString },
    1,
    /"postgres" has rights over the whole server/,
  );
  await refused(["--port", "x"], {}, 2, /--port must be/);
  await refused(
    [],
    { POSTHASTE_JWT_SECRET: "short" },
    1,
    /POSTHASTE_JWT_SECRET must be a secret of at least 32 characters/,
  );
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  await refused([], { POSTHASTE_JWT_SECRET: pem }, 1, /that is no PEM/);
  await refused([], { POSTHASTE_JWT_SECRET: SECRET, POSTHASTE_JWT_PUBLIC_KEY: pem }, 1, /one kind of key/);
  await refused(
    [],
    { POSTHASTE_JWKS_URL: "http://keys.shop.example" },
    1,
    /POSTHASTE_JWKS_URL must be an https/,
  );

  const plain = await database.login();
  const inheriting = await database.login({ memberOf: "posthaste_operator" });
  const producing = await httpLogin(database);
  await database.query(`grant posthaste_producer to ${producing.name}`);
  await refused(
    [],
    { POSTHASTE_HTTP_DATABASE_URL: plain.connectionString },
    1,
    /neither a viewer nor an operator|schema/,
  );
  await refused([], { POSTHASTE_HTTP_DATABASE_URL: inheriting.connectionString }, 1, /without becoming them/);
  await refused(
    [],
    { POSTHASTE_HTTP_DATABASE_URL: producing.connectionString },
    1,
    /can also become posthaste_producer/,
  );
});

test("token refuses what it cannot make", async (t) => {
  const directory = folder(t, FILES);
  const refused = async (args: readonly string[], environment: Record<string, string>, message: RegExp) => {
    const { stdout, stderr } = await posthaste(directory, ["token", ...args], environment);
    assert.match(stderr, message);
    assert.equal(stdout, "");
  };
  const secret = { POSTHASTE_JWT_SECRET: SECRET };
  await refused(["--role", "operator"], {}, /set POSTHASTE_JWT_SECRET/);
  await refused(["--role", "viewer"], secret, /--owner/);
  await refused(["--role", "producer"], secret, /viewer, operator/);
  await refused(["--role", "operator", "--for", "forever"], secret, /--for must be a duration/);
  await refused([], secret, /--role/);
});
