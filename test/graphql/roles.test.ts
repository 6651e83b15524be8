import "./environment.ts";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type GraphQLField, getNamedType, isCompositeType, isObjectType } from "graphql";
import type { Identity } from "../../src/graphql/http/identity.ts";
import { createTestDatabase } from "../database.ts";
import { claimed, enqueue, record } from "../sql/mails.ts";
import { schemaOfServer } from "./own-schema.ts";
import { httpLogin, serve } from "./serving.ts";

let stop = async () => {};
after(() => stop());
const database = await createTestDatabase();
const { pool } = database;
const { ask, stop: end, log } = await serve(database);
stop = end;
const schema = await schemaOfServer(database.pool);

/** Everything of tenant A says so. */
const MARK = "tenant-a-mark";
const WHO: Readonly<Record<string, Partial<Identity>>> = {
  "viewer A": { role: "viewer", owner: "tenant-a" },
  "viewer B": { role: "viewer", owner: "tenant-b" },
  "viewer of nobody": { role: "viewer", owner: null },
  operator: { role: "operator" },
};
let a = "";

before(async () => {
  const fields = {
    template: "tenant-a-mark/x",
    recipient: `${MARK}@shop.example`,
    cc: [`cc-${MARK}@shop.example`],
    bcc: [`bcc-${MARK}@shop.example`],
    reply_to: [`reply-${MARK}@shop.example`],
    from_address: `from-${MARK}@shop.example`,
    parameters: { text: MARK },
    reference: `${MARK}:1`,
    idempotency_key: `${MARK}:1`,
    owner: "tenant-a",
    transport: "tenant-a-mark",
    headers: { "X-Mark": MARK },
  };
  const lease = await claimed(pool, fields);
  await record(pool, lease, {
    kind: "failed",
    error_code: "message_refused",
    error_message: MARK,
    phase: "data",
    smtp_code: 554,
  });
  a = lease.id;
  await enqueue(pool, { owner: "tenant-b", template: "of-b" });
});

/** Arguments that every field gets; a field that is not here takes none. */
const ARGUMENTS: Readonly<Record<string, () => string>> = {
  node: () => `nodeId: "${nodeId()}"`,
  emailByNodeId: () => `nodeId: "${nodeId()}"`,
  email: () => `id: "${a}"`,
  emailByIdempotencyKey: () => `idempotencyKey: "${MARK}:1"`,
  enqueueEmail: () => 'input: { template: "t", to: ["x@shop.example"] }',
  retryEmail: () => `id: "${a}"`,
  cancelEmail: () => `id: "${a}"`,
  retryEmails: () => 'filter: { owner: "tenant-a" }, dryRun: true',
  cancelEmails: () => 'filter: { owner: "tenant-a" }',
  pauseTransport: () => 'name: "default"',
  resumeTransport: () => 'name: "default"',
};
const nodeId = () => Buffer.from(JSON.stringify(["Email", a])).toString("base64");

/** What a viewer may ask for; everything else is an operator's. */
const VIEWERS = ["node", "emailByNodeId", "email", "emailByIdempotencyKey", "emails"];
const VIEWERS_COLUMNS = [
  "nodeId", "id", "status", "template", "owner", "reference", "createdAt", "sentAt", "errorCode", "errorSentence", "errorHint",
]; // biome-ignore format: a list

/** A field with its leaves, two levels deep. */
function selection(field: GraphQLField<unknown, unknown>, depth = 2): string {
  const type = getNamedType(field.type);
  if (!isCompositeType(type)) return field.name;
  const inner = isObjectType(type) && type.name !== "Email" ? Object.values(type.getFields()) : [];
  const leaves = inner.filter((one) => depth > 0 || !isCompositeType(getNamedType(one.type)));
  const inside = leaves.map((one) => selection(one, depth - 1)).join(" ");
  return `${field.name} { ${inside || "__typename"} }`;
}

const roots = [
  ...Object.values(schema.getQueryType()?.getFields() ?? {}).map((field) => ({ kind: "query", field })),
  ...Object.values(schema.getMutationType()?.getFields() ?? {}).map((field) => ({ kind: "mutation", field })),
];

for (const { kind, field } of roots) {
  for (const [name, who] of Object.entries(WHO)) {
    const allowed = name === "operator" || VIEWERS.includes(field.name);
    test(`${kind} ${field.name} is ${allowed ? "for" : "not for"} ${name}`, async () => {
      const given = ARGUMENTS[field.name]?.();
      assert.ok(
        given !== undefined || field.args.every(({ type }) => !String(type).endsWith("!")),
        "arguments are in the table",
      );
      const text = selection(field).replace(field.name, given ? `${field.name}(${given})` : field.name);
      const { data, errors } = await ask(`${kind} { ${text} }`, {}, who);
      if (allowed) assert.equal(errors, undefined, JSON.stringify(errors));
      else assert.deepEqual([data[field.name], errors?.[0]?.extensions?.code], [null, "FORBIDDEN"]);
      if (name !== "operator" && name !== "viewer A") {
        assert.doesNotMatch(JSON.stringify({ data, errors }), new RegExp(`${MARK}|${a}`));
      }
    });
  }
}

const email = schema.getType("Email");
assert.ok(isObjectType(email));
for (const field of Object.values(email.getFields())) {
  const forViewers = VIEWERS_COLUMNS.includes(field.name);
  test(`Email.${field.name} is for ${forViewers ? "everyone who sees the mail" : "operators"}, by every way to the mail`, async () => {
    const inside = selection(field);
    const ways = `byId: email(id: "${a}") { ${inside} } byKey: emailByIdempotencyKey(idempotencyKey: "${MARK}:1") { ${inside} }
      byNode: node(nodeId: "${nodeId()}") { ... on Email { ${inside} } } listed: emails(first: 5) { nodes { ${inside} } edges { node { ${inside} } } }`;
    const operator = await ask(`{ ${ways} }`);
    assert.equal(operator.errors, undefined, JSON.stringify(operator.errors));
    assert.ok(operator.data.byId && operator.data.byKey && operator.data.byNode);
    const own = await ask(`{ ${ways} }`, {}, WHO["viewer A"]);
    if (forViewers) assert.equal(own.errors, undefined, JSON.stringify(own.errors));
    else {
      assert.ok(
        own.errors.every((error: { extensions: { code: string } }) => error.extensions.code === "FORBIDDEN"),
      );
      assert.deepEqual(
        [own.data.byId[field.name], own.data.byKey[field.name], own.data.byNode[field.name]],
        [null, null, null],
      );
      assert.doesNotMatch(JSON.stringify(own), new RegExp(MARK));
    }
    for (const name of ["viewer B", "viewer of nobody"]) {
      const other = await ask(`{ ${ways} }`, {}, WHO[name]);
      assert.deepEqual([other.data.byId, other.data.byKey, other.data.byNode], [null, null, null]);
      assert.doesNotMatch(JSON.stringify(other), new RegExp(`${MARK}|${a}`));
    }
  });
}

test("a viewer may not filter by what it may not read, and another's values match nothing", async () => {
  const filters = Object.entries({
    recipient: `${MARK}@shop.example`,
    transport: MARK,
    possibleDuplicate: false,
    ids: [a],
    status: ["FAILED", "CANCELLED"],
    template: "tenant-a-mark/x",
    reference: `${MARK}:1`,
    owner: "tenant-a",
    errorCode: ["message_refused", "cancelled"],
    createdFrom: "2020-01-01T00:00:00Z",
  });
  const forbidden = ["recipient", "transport", "possibleDuplicate"];
  for (const [name, value] of filters) {
    const LIST =
      "query ($filter: EmailFilter) { emails(filter: $filter) { nodes { id } counts { total { count } } } }";
    const own = await ask(LIST, { filter: { [name]: value } }, WHO["viewer A"]);
    if (forbidden.includes(name)) assert.equal(own.errors[0].extensions.code, "FORBIDDEN", name);
    else assert.deepEqual(own.data.emails, { nodes: [{ id: a }], counts: { total: { count: 1 } } }, name);
    const other = await ask(LIST, { filter: { [name]: value } }, WHO["viewer B"]);
    assert.doesNotMatch(JSON.stringify(other), new RegExp(`${MARK}|${a}`));
  }
});

test("nobody gets anything without a token", async () => {
  for (const { kind, field } of roots) {
    const given = ARGUMENTS[field.name]?.();
    const { data, errors } = await ask(
      `${kind} { ${field.name}${given ? `(${given})` : ""} { __typename } }`,
      {},
      null,
    );
    assert.deepEqual([data, errors.length], [undefined, 1]);
  }
});

/** SQL functions of the schema posthaste by who may call them. Functions that are added must be put here. */
const FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  operator: [
    "begin_action", "cancel", "cancel_matching", "email_counts", "email_of_key", "email_page", "email_status", "enqueue", "erase_recipient",
    "pause", "queue_stats", "resume", "retry", "retry_matching", "templates", "transports",
  ], // biome-ignore format: a list
  viewer: ["email_counts", "email_of_key", "email_page"],
  producer: ["email_status", "enqueue", "enqueue_row"],
};

test("each SQL function is for the roles that it is meant for, and the server's own login may call none", async () => {
  const login = await httpLogin(database);
  for (const [role, functions] of Object.entries(FUNCTIONS)) {
    const rows = await database.query(
      "select distinct p.proname::text as name from pg_proc p where p.pronamespace = 'posthaste'::regnamespace and has_function_privilege($1, p.oid, 'execute') order by 1",
      [`posthaste_${role}`],
    );
    // Files of attachments are a matter of their own.
    const names = rows.map(({ name }) => name).filter((name) => !name.endsWith("_file"));
    assert.deepEqual(
      names.filter((name) => !functions.includes(name)),
      [],
      role,
    );
    assert.deepEqual(
      functions.filter((name) => !names.includes(name) && name !== "erase_recipient"),
      [],
      role,
    );
  }
  const [none] = await database.query(
    `select count(*)::int as functions from pg_proc p where p.pronamespace in ('posthaste'::regnamespace, 'posthaste_private'::regnamespace)
       and has_schema_privilege($1, p.pronamespace, 'usage') and has_function_privilege($1, p.oid, 'execute')`,
    [login.name],
  );
  assert.equal(none.functions, 0);
});

test("nothing of all this was an unexpected error", () => {
  assert.deepEqual(
    log.filter((line) => !line.includes("http_started")),
    [],
  );
});
