import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { after, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { enqueue } from "../sql/mails.ts";
import { serve, tokenFor } from "./serving.ts";

const stops: (() => Promise<void>)[] = [];
after(async () => {
  for (const stop of stops) await stop();
});
const database = await createTestDatabase();
// As in production.
const serving = await serve(database, {
  introspection: false,
  graphiql: false,
  origins: ["https://admin.shop.example"],
});
stops.push(serving.stop);
const { ask, server, log } = serving;
const id = await enqueue(database.pool, { owner: "tenant-a" });
const token = await tokenFor();

/** A request with headers and a body of one's own. */
function post(body: string, headers: Record<string, string> = {}, method = "POST"): Promise<Response> {
  return fetch(`${server.url}/graphql`, {
    method,
    headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
    ...(method !== "GET" && { body }),
  });
}

const QUERY = JSON.stringify({ query: "{ emails { nodes { id } } }" });

test("the schema cannot be asked for", async () => {
  for (const query of ["{ __schema { types { name } } }", '{ __type(name: "Email") { name } }']) {
    const { data, errors } = await ask(query);
    assert.equal(data, undefined);
    assert.match(errors[0].message, /introspection/);
  }
  assert.equal((await fetch(`${server.url}/graphiql`)).status, 404);
});

test("neither depth nor aliases nor cost go beyond the limits, by no detour", async () => {
  const nested = (depth: number): string => (depth === 0 ? "id" : `... on Email { ${nested(depth - 1)} }`);
  const tooDeep = `{ emails { nodes ${"{ attempts ".repeat(10)} { number } ${"}".repeat(10)} } }`;
  const aliases = `{ ${Array.from({ length: 1000 }, (_, n) => `a${n}: email(id: "${id}") { id }`).join(" ")} }`;
  const fields = `{ ${Array.from({ length: 21 }, () => `email(id: "${id}") { id }`).join(" ")} }`;
  const costly = "{ emails(first: 100) { nodes { renderedEmail { html } } } }";
  const byVariable = "query ($n: Int) { emails(first: $n) { nodes { renderedEmail { html } } } }";
  // Two to the power of forty fields, in forty fragments.
  const bomb = `{ emails { nodes { ...f0 } } } ${Array.from({ length: 40 }, (_, n) => `fragment f${n} on Email { ...f${n + 1} ...f${n + 1} }`).join(" ")} fragment f40 on Email { id to }`;
  const circle = "{ emails { nodes { ...a } } } fragment a on Email { ...b } fragment b on Email { ...a }";
  const words = `{ emails { nodes { ${"id ".repeat(4001)} } } }`;
  const began = performance.now();
  for (const query of [tooDeep, aliases, fields, costly, byVariable, bomb, circle, words]) {
    const { data, errors } = await ask(query);
    assert.equal(data, undefined, query.slice(0, 80));
    assert.ok(errors.length > 0);
  }
  assert.ok(performance.now() - began < 5000);
  const { errors } = await ask(`{ emails { nodes { ${nested(200)} } } }`);
  assert.equal(errors, undefined, "inline fragments add no depth");
});

test("a large body is not read", async () => {
  const large = await post(JSON.stringify({ query: "#".repeat(10_000_000) })).catch((error: Error) => error);
  assert.ok(large instanceof Error || large.status === 413);
  // Without a length it is read to the limit and no further.
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  socket.write(`${(200_000).toString(16)}\r\n${"x".repeat(200_000)}\r\n`);
  const [answer] = await once(socket.setEncoding("utf8"), "data");
  assert.match(answer, /^HTTP\/1\.1 413 /);
  socket.destroy();
});

test("only JSON by POST is taken, one request at a time", async () => {
  for (const [type, body] of [
    ["application/x-www-form-urlencoded", "query={emails{nodes{id}}}"],
    [
      "multipart/form-data; boundary=x",
      '--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n{__typename}\r\n--x--',
    ],
    ["text/plain", QUERY],
    ["application/graphql", "{ __typename }"],
    ["application/json; charset=utf-16", QUERY],
  ] as const) {
    assert.equal((await post(body, { "content-type": type })).status, 415, type);
  }
  assert.equal(
    (
      await fetch(`${server.url}/graphql?query={__typename}`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status,
    405,
  );
  assert.equal((await post(QUERY, {}, "PUT")).status, 405);
  for (const body of [
    `[${QUERY}]`,
    '"x"',
    "null",
    "{",
    '{"query": 1}',
    '{"query": "{__typename}", "variables": []}',
    '{"query": "{__typename}", "operationName": {}}',
  ]) {
    assert.equal((await post(body)).status, 400, body);
  }
});

test("pages of foreign origins may not ask; those that are named may", async () => {
  for (const origin of [
    "https://evil.example",
    "null",
    `${server.url}.evil.example`,
    "https://admin.shop.example.evil.example",
    "http://admin.shop.example",
  ]) {
    const answer = await post(QUERY, { origin });
    assert.equal(answer.status, 403, origin);
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
  }
  const named = await post(QUERY, { origin: "https://admin.shop.example" });
  assert.deepEqual(
    [named.status, named.headers.get("access-control-allow-origin")],
    [200, "https://admin.shop.example"],
  );
  assert.equal(named.headers.get("access-control-allow-credentials"), null);
  const preflight = await fetch(`${server.url}/graphql`, {
    method: "OPTIONS",
    headers: { origin: "https://admin.shop.example" },
  });
  assert.deepEqual([preflight.status, preflight.headers.get("access-control-allow-methods")], [204, "POST"]);
  assert.equal(
    (await fetch(`${server.url}/graphql`, { method: "OPTIONS", headers: { origin: "https://evil.example" } }))
      .status,
    403,
  );
  assert.equal((await post(QUERY, { origin: server.url })).status, 200);
});

test("answers say that they are data, and are kept nowhere", async () => {
  const { headers } = await post(QUERY);
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
});

test("SQL in any string is a string", async () => {
  const evil = "'; drop table posthaste.email_messages; --";
  for (const value of [evil, `${evil}\u0000`, "$1", "\\", "%_", "🦊".repeat(1000), '{"a":1}']) {
    const text = JSON.stringify(value);
    const { errors = [] } = await ask(
      `query { emailByIdempotencyKey(idempotencyKey: ${text}) { id }
        template: emails(filter: { template: ${text} }) { nodes { id } } recipient: emails(filter: { recipient: ${text} }) { nodes { id } }
        reference: emails(filter: { reference: ${text} }) { nodes { id } } owner: emails(filter: { owner: ${text} }) { nodes { id } }
        code: emails(filter: { errorCode: [${text}] }) { nodes { id } } transport: emails(filter: { transport: ${text} }) { nodes { id } }
        from: emails(filter: { createdFrom: ${text} }) { nodes { id } } before: emails(filter: { createdBefore: ${text} }) { nodes { id } }
        after: emails(after: ${text}) { nodes { id } } actions: operatorActions(after: ${text}) { nodes { id } }
        node(nodeId: ${text}) { nodeId } }`,
    );
    for (const { message, extensions } of errors) {
      assert.match(extensions?.code ?? "none", /^(PH\d\d\d|BAD_INPUT)$/, message);
      assert.doesNotMatch(message, /drop table|syntax|relation|column/);
    }
    const acted = await ask(
      `mutation { pauseTransport(name: ${text}, reason: ${text}) { refusal { reason } } resumeTransport(name: ${text}) { refusal { reason } }
        enqueueEmail(input: { template: ${text}, to: [${text}], cc: [${text}], from: ${text}, locale: ${text}, transport: ${text}, idempotencyKey: ${text}, reference: ${text}, owner: ${text}, parameters: { a: ${text} }, headers: { a: ${text} } }) { refusal { reason } }
        retryEmails(filter: { template: ${text} }) { more } cancelEmails(filter: { reference: ${text} }) { more } }`,
    );
    for (const { extensions } of acted.errors ?? []) assert.match(extensions.code, /^(PH\d\d\d|BAD_INPUT)$/);
  }
  const [row] = await database.query("select count(*)::int as mails from posthaste.email_messages");
  assert.ok(row.mails >= 1);
});

test("an owner that is SQL is an owner", async () => {
  const owner = "x' or owner = 'tenant-a";
  const { data } = await ask("{ emails { nodes { id } } }", {}, { role: "viewer", owner });
  assert.deepEqual(data.emails.nodes, []);
});

test("a node id of another type, or made up, finds nothing", async () => {
  for (const specifier of [
    ["Query", id],
    ["Email"],
    ["Email", 1],
    ["Email", { id }],
    ["Email", "x"],
    ["Email", id, "x"],
    "query",
    null,
    ["Transport", "default"],
  ]) {
    const nodeId = Buffer.from(JSON.stringify(specifier)).toString("base64");
    const { data, errors } = await ask(
      `{ node(nodeId: "${nodeId}") { nodeId } emailByNodeId(nodeId: "${nodeId}") { id } }`,
    );
    assert.equal(errors, undefined);
    assert.deepEqual(data, { node: null, emailByNodeId: null }, JSON.stringify(specifier));
  }
});

test("a viewer's statement ends after three seconds, whatever it waits for", async () => {
  const client = await database.pool.connect();
  try {
    await client.query("begin; lock table posthaste.email_messages in access exclusive mode");
    const began = performance.now();
    const { errors } = await ask("{ emails { nodes { id } } }", {}, { role: "viewer", owner: "tenant-a" });
    assert.equal(errors[0].extensions.code, "TIMEOUT");
    assert.ok(performance.now() - began < 6000);
  } finally {
    await client.query("rollback");
    client.release();
  }
});

test("whatever happens, nobody is told more than an id", async () => {
  await database.query("alter function posthaste.transports() rename to transports_away");
  try {
    const { data, errors } = await ask("{ transports { name } }");
    assert.equal(data.transports, null);
    assert.match(errors[0].message, /^An unexpected error; the log tells of it under [0-9a-f]{8}\.$/);
    assert.ok(log.some((line) => line.includes(errors[0].extensions.errorId)));
  } finally {
    await database.query("alter function posthaste.transports_away() rename to transports");
  }
});

test("where no token is needed, only loopback's own names are, and pages of other origins are not", async () => {
  const open = await serve(
    database,
    { tokens: null },
    { role: "operator", owner: null, subject: "operator on loopback" },
  );
  stops.push(open.stop);
  const { port } = new URL(open.server.url);
  const send = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = request({
        port,
        path: "/graphql",
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
      });
      asked.on("response", ({ statusCode }) => resolve(statusCode)).on("error", reject);
      asked.end(QUERY);
    });
  assert.equal((await open.ask("{ emails { nodes { id } } }", {}, null)).errors, undefined);
  assert.equal(await send({ host: `localhost:${port}` }), 200);
  // A page can make its own name resolve to 127.0.0.1.
  assert.equal(await send({ host: `evil.example:${port}` }), 403);
  assert.equal(await send({ host: `127.0.0.1.evil.example:${port}` }), 403);
  assert.equal(await send({ origin: "https://evil.example" }), 403);
  // Who brings a token is not let in by it: there are none.
  assert.equal(await send({ authorization: `Bearer ${token}` }), 401);
});

// The last one: the address stays blocked.
test("who guesses tokens is not heard for a while, and others behind the same address are", async () => {
  const guess = () => post(QUERY, { authorization: `Bearer ${token.slice(0, -4)}AAAA` });
  const statuses: number[] = [];
  for (let n = 0; n < 25; n++) statuses.push((await guess()).status);
  assert.deepEqual([...new Set(statuses)], [401, 429]);
  assert.ok(Number((await guess()).headers.get("retry-after")) > 0);
  assert.equal((await post(QUERY)).status, 200, "a token that was good a moment ago");
});
