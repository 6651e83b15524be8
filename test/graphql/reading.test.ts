import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { again, claimed, enqueue, insert, later, record } from "../sql/mails.ts";
import { serve } from "./serving.ts";

let stop = async () => {};
after(() => stop());
const database = await createTestDatabase();
const { pool } = database;
const { ask, stop: end } = await serve(database);
stop = end;

const LIST = `query ($filter: EmailFilter, $orderBy: EmailOrder, $first: Int, $after: Cursor) {
  emails(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    nodes { id status } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor }
    counts { pending { text } failed { count } total { count capped text } }
  }
}`;

/** Ids of what a filter lists. */
async function list(filter: object, more: object = {}): Promise<string[]> {
  const { data, errors } = await ask(LIST, { filter, ...more });
  assert.deepEqual(errors, undefined);
  return data.emails.nodes.map(({ id }: { id: string }) => id);
}

test("pages through mail of one moment without loss or repetition, while more is enqueued", async () => {
  // One statement, so all have the same created_at.
  await pool.query(
    "insert into posthaste.email_messages (template, recipients, reference) select 'paging', array['ada@shop.example'], 'paging:1' from generate_series(1, 25)",
  );
  const seen: string[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < 4; pages++) {
    const { data } = await ask(LIST, { filter: { template: "paging" }, first: 8, after });
    seen.push(...data.emails.nodes.map(({ id }: { id: string }) => id));
    assert.equal(data.emails.pageInfo.hasNextPage, pages < 3);
    assert.equal(data.emails.pageInfo.hasPreviousPage, pages > 0);
    after = data.emails.pageInfo.endCursor;
    await enqueue(pool, { template: "paging", reference: "later" });
  }
  assert.equal(seen.length, 25);
  assert.equal(new Set(seen).size, 25);
  assert.deepEqual(seen, [...seen].sort().reverse());
});

test("finds mail by each condition, and by all together", async () => {
  const [wanted, other] = [
    await enqueue(pool, {
      template: "billing/invoice",
      recipient: "Jane <Jane@Customer.example>",
      bcc: ["audit@shop.example"],
      reference: "order:7",
      owner: "customer:7",
      transport: "bulk",
      idempotency_key: "invoice:7",
    }),
    await enqueue(pool, { template: "other", recipient: "john@customer.example" }),
  ];
  const failed = await enqueue(pool, { template: "other", recipient: "nonsense", reference: "order:7" });
  await pool.query("update posthaste.email_messages set possible_duplicate = true where id = $1", [wanted]);
  const conditions = {
    ids: [wanted],
    status: ["PENDING"],
    template: "billing/invoice",
    recipient: "jane@customer.example",
    owner: "customer:7",
    transport: "bulk",
    possibleDuplicate: true,
  };
  for (const [name, value] of Object.entries(conditions)) {
    const found = await list({ [name]: value });
    assert.ok(found.includes(wanted) && (name === "status" || !found.includes(other)), name);
    assert.ok(!found.includes(failed), name);
  }
  assert.deepEqual(await list({ ...conditions, reference: "order:7" }), [wanted]);
  assert.deepEqual(await list({ recipient: "Audit <AUDIT@shop.example>" }), [wanted]);
  assert.deepEqual(await list({ reference: "order:7" }), [failed, wanted]);
  assert.deepEqual(await list({ errorCode: ["recipient_invalid"] }), [failed]);
  assert.deepEqual(await list({ errorCode: ["recipient_invalid", "expired"], status: ["FAILED", "SENT"] }), [
    failed,
  ]);
  assert.deepEqual(await list({ template: "other", status: [] }), []);
  const at = (await pool.query("select created_at from posthaste.email_messages where id = $1", [other]))
    .rows[0];
  const from = new Date(at.created_at.getTime()).toISOString();
  const before = new Date(at.created_at.getTime() + 1).toISOString();
  assert.deepEqual(
    await list({ createdFrom: from, createdBefore: before, template: "other", status: ["PENDING"] }),
    [other],
  );
  assert.deepEqual(await list({ createdBefore: from, template: "other" }), []);
});

test("lists what is due next first, and only what waits", async () => {
  const [late, soon] = [
    await enqueue(pool, { reference: "due", send_at: "2040-01-02" }),
    await enqueue(pool, { reference: "due", send_at: "2040-01-01" }),
  ];
  await enqueue(pool, { reference: "due", recipient: "nonsense" });
  const first = await ask(LIST, { filter: { reference: "due" }, orderBy: "NEXT_DUE", first: 1 });
  assert.equal(first.data.emails.nodes[0].id, soon);
  const { endCursor } = first.data.emails.pageInfo;
  assert.deepEqual(await list({ reference: "due" }, { orderBy: "NEXT_DUE", after: endCursor }), [late]);
});

test("counts follow the filter, and say when they stop counting", async () => {
  const { data } = await ask(LIST, { filter: { reference: "due" } });
  assert.deepEqual(data.emails.counts, {
    pending: { text: "2" },
    failed: { count: 1 },
    total: { count: 3, capped: false, text: "3" },
  });
  await pool.query("create temporary table t as select 1; drop table t");
  await pool.query(
    "insert into posthaste.email_messages (template, recipients, send_at) select 'many', array['ada@shop.example'], '2040-01-01' from generate_series(1, 10001)",
  );
  const many = await ask(LIST, { filter: { template: "many" }, first: 1 });
  assert.deepEqual(many.data.emails.counts.pending, { text: "10,000+" });
  assert.equal(many.data.emails.counts.total.capped, true);
});

test("shows the attempts of a mail and what became of each recipient", async () => {
  const { id, token } = await claimed(pool, {
    recipient: "Ada <ada@shop.example>",
    cc: ["bob@shop.example"],
    bcc: ["eve@shop.example"],
  });
  await record(
    pool,
    { id, token },
    later({ smtp_code: 451, enhanced_code: "4.3.0", error_message: "busy", transport: "default" }),
  );
  const second = await again(pool, id);
  await record(pool, second, {
    kind: "sent",
    accepted: [1],
    refused: { 2: { code: 550, enhanced: "5.1.1", text: "no such user" } },
    phase: "final_dot",
    smtp_code: 250,
    transport: "default",
  });
  const { data, errors } = await ask(
    `query ($id: UUID!) { email(id: $id) {
      status to cc bcc errorCode errorSentence
      attempts { number outcome phase smtpCode enhancedCode errorCode errorMessage }
      recipients { mailbox line outcome smtpCode enhancedCode text }
    } }`,
    { id },
  );
  assert.equal(errors, undefined);
  const { attempts, recipients, to, cc, bcc } = data.email;
  assert.deepEqual([to, cc, bcc], [["Ada <ada@shop.example>"], ["bob@shop.example"], ["eve@shop.example"]]);
  assert.deepEqual(
    attempts.map(({ number, outcome, smtpCode }: Record<string, unknown>) => [number, outcome, smtpCode]),
    [
      [1, "DEFERRED", 451],
      [2, "SENT", 250],
    ],
  );
  assert.deepEqual(recipients.slice(0, 2), [
    {
      mailbox: "Ada <ada@shop.example>",
      line: "TO",
      outcome: "ACCEPTED",
      smtpCode: null,
      enhancedCode: null,
      text: null,
    },
    {
      mailbox: "bob@shop.example",
      line: "CC",
      outcome: "REFUSED",
      smtpCode: 550,
      enhancedCode: "5.1.1",
      text: "no such user",
    },
  ]);
});

test("one question that fails does not take others of the same request with it", async () => {
  const { data, errors } = await ask(
    `{ good: email(id: "01a22e89-96d5-7963-8bbe-f9c3e802fac5") { id }
       bad: operatorActions(after: "nonsense") { nodes { id } } fine: operatorActions { nodes { id } } other: operatorActions(first: 1) { nodes { id } } }`,
  );
  assert.deepEqual(data, { good: null, bad: null, fine: { nodes: [] }, other: { nodes: [] } });
  assert.deepEqual(
    errors.map((error: { path: string[] }) => error.path),
    [["bad"]],
  );
});

test("finds one mail by id, by node id and by key; an unknown one is null", async () => {
  const id = await insert(pool, { idempotency_key: "found:1" });
  const nodeId = Buffer.from(JSON.stringify(["Email", id])).toString("base64");
  const { data } = await ask(
    `query ($id: UUID!, $nodeId: ID!) {
      email(id: $id) { nodeId } emailByIdempotencyKey(idempotencyKey: "found:1") { id }
      node(nodeId: $nodeId) { ... on Email { id } } emailByNodeId(nodeId: $nodeId) { id }
      unknown: emailByIdempotencyKey(idempotencyKey: "found:2") { id }
    }`,
    { id, nodeId },
  );
  assert.deepEqual(data, {
    email: { nodeId },
    emailByIdempotencyKey: { id },
    node: { id },
    emailByNodeId: { id },
    unknown: null,
  });
});

test("shows how the queue, the transports and the templates are", async () => {
  const worker = await pool.connect();
  try {
    await worker.query(
      "select posthaste_private.register_worker('w1', 'host', '1.0.0', 'default', 8, array['default', 'bulk'], $1)",
      [JSON.stringify([{ name: "order-confirmed", version: "abc", required: ["number"], secrets: [] }])],
    );
    const { data } = await ask(
      "{ queueStats { pending liveWorkers environment } transports { name isDefault state } templates { name versions required workers } }",
    );
    assert.equal(data.queueStats.liveWorkers, 1);
    assert.deepEqual(
      data.transports.find(({ name }: { name: string }) => name === "default"),
      { name: "default", isDefault: true, state: "CLOSED" },
    );
    assert.deepEqual(data.templates, [
      { name: "order-confirmed", versions: ["abc"], required: ["number"], workers: 1 },
    ]);
  } finally {
    worker.release(true);
  }
});
