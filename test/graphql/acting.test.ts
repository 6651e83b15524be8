import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { claimed, enqueue, jobsOf, mail, record } from "../sql/mails.ts";
import { serve } from "./serving.ts";

let stop = async () => {};
after(() => stop());
const database = await createTestDatabase();
const { pool } = database;
const { ask, stop: end, log } = await serve(database);
stop = end;

const REFUSAL = "refusal { reason status code field message hint }";

async function failed(fields: object = {}): Promise<string> {
  const lease = await claimed(pool, { ...fields });
  await record(pool, lease, { kind: "failed", error_code: "message_refused", phase: "data", smtp_code: 554 });
  return lease.id;
}

test("twenty parallel retries of one mail make one new send and nineteen typed answers", async () => {
  const id = await failed();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      ask(`mutation { retryEmail(id: "${id}") { email { status } ${REFUSAL} } }`),
    ),
  );
  const payloads = answers.map(({ data, errors }) => {
    assert.equal(errors, undefined);
    return data.retryEmail;
  });
  assert.ok(payloads.every(({ email }) => email.status === "PENDING"));
  const refusals = payloads.flatMap(({ refusal }) => refusal ?? []);
  assert.equal(refusals.length, 19);
  for (const refusal of refusals) {
    assert.deepEqual([refusal.reason, refusal.status, refusal.code], ["WRONG_STATUS", "PENDING", "PH021"]);
  }
  assert.equal((await jobsOf(pool, id)).length, 1);
  assert.equal((await mail(pool, id)).attempt_count, 0);
  const actions = await database.query("select * from posthaste.operator_actions where email_id = $1", [id]);
  assert.equal(actions.length, 1);
});

test("an action that cannot be done says why: unknown, another status, expired, secrets gone", async () => {
  const unknown = "01a22e89-96d5-7963-8bbe-f9c3e802fac5";
  const sending = (await claimed(pool)).id;
  const expired = await failed({ expires_at: new Date(Date.now() + 60_000) });
  await pool.query("update posthaste.email_messages set expires_at = now() where id = $1", [expired]);
  const secretless = await failed();
  await pool.query("update posthaste.email_messages set secrets_removed_at = now() where id = $1", [
    secretless,
  ]);
  const { data, errors } = await ask(`mutation {
    secretless: retryEmail(id: "${secretless}") { email { status } ${REFUSAL} }
    unknown: retryEmail(id: "${unknown}") { email { id } ${REFUSAL} }
    sending: cancelEmail(id: "${sending}") { email { status } ${REFUSAL} }
    expired: retryEmail(id: "${expired}") { email { status } ${REFUSAL} }
  }`);
  assert.equal(errors, undefined);
  assert.deepEqual(
    [data.secretless.refusal.reason, data.secretless.email.status],
    ["SECRETS_GONE", "FAILED"],
  );
  assert.equal(data.unknown.email, null);
  assert.equal(data.unknown.refusal.reason, "NOT_FOUND");
  assert.deepEqual([data.sending.refusal.reason, data.sending.refusal.status], ["WRONG_STATUS", "SENDING"]);
  assert.match(data.sending.refusal.hint, /A worker is sending it/);
  assert.deepEqual([data.expired.refusal.reason, data.expired.email.status], ["EXPIRED", "FAILED"]);
  assert.deepEqual(
    log.filter((line) => line.includes("http_failed")),
    [],
  );
});

test("acts on many in steps, at most as many as was said, and counts by outcome under one record", async () => {
  const ids = Array.from({ length: 1203 }, () => 0);
  await pool.query(
    "insert into posthaste.email_messages (template, recipients, expires_at) select 'many', array['ada@shop.example'], '2040-01-01' from generate_series(1, $1)",
    [ids.length],
  );
  await pool.query(
    "update posthaste.email_messages set status = 'FAILED', finished_at = now(), error_code = 'render_failed' where template = 'many'",
  );
  await pool.query(
    "update posthaste.email_messages set expires_at = now() where id in (select id from posthaste.email_messages where template = 'many' limit 3)",
  );
  const retry = (max: number, dryRun: boolean) =>
    ask(
      'mutation ($max: Int, $dryRun: Boolean) { retryEmails(filter: { template: "many", errorCode: ["render_failed"] }, max: $max, dryRun: $dryRun) { outcomes { outcome emails } more actionId } }',
      { max, dryRun },
    ).then(({ data }) => data.retryEmails);
  const sum = (outcomes: { emails: number }[]) => outcomes.reduce((all, { emails }) => all + emails, 0);
  const dry = await retry(10_000, true);
  assert.deepEqual(dry.outcomes, [
    { outcome: "would be retried", emails: 1200 },
    { outcome: "expired", emails: 3 },
  ]);
  const part = await retry(700, false);
  assert.equal(sum(part.outcomes), 700);
  assert.equal(part.more, true);
  const rest = await retry(10_000, false);
  assert.equal(rest.more, false);
  const [counts] = await database.query(
    "select count(*) filter (where status = 'PENDING')::int as pending, count(*) filter (where status = 'FAILED')::int as failed from posthaste.email_messages where template = 'many'",
  );
  assert.deepEqual(counts, { pending: 1200, failed: 3 });
  const actions = await database.query(
    "select emails, outcomes, filter from posthaste.operator_actions where action = 'retry_matching' order by id",
  );
  assert.deepEqual(
    actions.map(({ emails, outcomes }) => [emails, outcomes.retried]),
    [part, rest].map(({ outcomes }) => {
      const { emails } = outcomes.find(({ outcome }: { outcome: string }) => outcome === "retried");
      return [emails, emails];
    }),
  );
  assert.deepEqual(actions[0].filter, { template: "many", error_code: "render_failed" });

  const cancelled = await ask(
    'mutation { cancelEmails(filter: { template: "many" }, max: 10000) { outcomes { outcome emails } } }',
  );
  assert.deepEqual(cancelled.data.cancelEmails.outcomes, [{ outcome: "cancelled", emails: 1200 }]);
});

test("a filter for other states matches nothing, and one that a variable left empty is refused", async () => {
  await failed({ template: "kept" });
  const { data } = await ask(
    'mutation { retryEmails(filter: { template: "kept", status: [SENT] }) { outcomes { emails } } }',
  );
  assert.deepEqual(data.retryEmails.outcomes, []);
  for (const variables of [{}, { template: null }]) {
    const { errors } = await ask(
      "mutation ($template: String) { cancelEmails(filter: { template: $template }) { more } }",
      variables,
    );
    assert.equal(errors[0].extensions.code, "BAD_INPUT");
  }
});

test("pauses and resumes a transport, in the name of who did it", async () => {
  const { data } = await ask(
    `mutation {
    pauseTransport(name: "bulk", reason: "Provider is down") { transport { state reason pausedBy } ${REFUSAL} }
    resumeTransport(name: "bulk") { transport { state } ${REFUSAL} }
    again: resumeTransport(name: "bulk") { transport { state } ${REFUSAL} }
    wrong: pauseTransport(name: "No such") { transport { state } ${REFUSAL} }
  }`,
    {},
    { subject: "Ann O'Hara" },
  );
  assert.deepEqual(data.pauseTransport.transport, {
    state: "PAUSED",
    reason: "Provider is down",
    pausedBy: "Ann O'Hara",
  });
  assert.equal(data.resumeTransport.transport.state, "CLOSED");
  assert.equal(data.again.refusal.reason, "NOT_PAUSED");
  assert.deepEqual([data.wrong.refusal.reason, data.wrong.refusal.field], ["INVALID", "transport"]);
});

test("what is done in psql is recorded as well, under the login; a refused action leaves no record", async () => {
  const id = await enqueue(pool);
  const operator = await database.login({ memberOf: "posthaste_operator" });
  const own = database.as(operator.name);
  await own.query("select posthaste.cancel($1)", [id]);
  await assert.rejects(own.query("select posthaste.cancel($1)", [id]), { code: "PH021" });
  await own.query(
    `select posthaste.cancel_matching('{"recipient": "ada@shop.example", "reference": "none"}')`,
  );
  await own.query(`select posthaste.cancel_matching('{}', dry_run => true)`);
  const { data } = await ask(
    "{ operatorActions(first: 2) { nodes { actor login action emailId filter emails outcomes { outcome } } } }",
  );
  const [matching, single] = data.operatorActions.nodes;
  // \`set role\` in one session: the login is the one that connected.
  assert.equal(single.login, "postgres");
  assert.deepEqual([single.action, single.emailId, single.emails], ["cancel", id, 1]);
  assert.deepEqual(matching.filter, { reference: "none", recipient: "(an address)" });
});

test("a record can be added to only by who began it", async () => {
  const begin = async (settings: Record<string, string>) =>
    (
      await database
        .as("posthaste_operator", settings)
        .query("select posthaste.begin_action('retry_matching', '{}') as id")
    ).rows[0].id;
  const id = await begin({ "posthaste.actor": "ann" });
  const intruder = database.as("posthaste_operator", { "posthaste.actor": "eve", "posthaste.action": id });
  await intruder.query(`select posthaste.retry_matching('{"reference": "none"}')`);
  const rows = await database.query(
    "select id, actor from posthaste.operator_actions order by at desc, id desc limit 2",
  );
  assert.deepEqual(
    rows.map(({ actor }) => actor),
    ["eve", "ann"],
  );
  await assert.rejects(intruder.query("update posthaste.operator_actions set actor = 'x'"), {
    code: "42501",
  });
});

test("enqueues with the same answers as the SQL function", async () => {
  const ENQUEUE = `mutation ($input: EnqueueEmailInput!) { enqueueEmail(input: $input) { email { id status errorCode to cc replyTo from idempotencyKey owner } ${REFUSAL} } }`;
  const input = {
    template: "order-confirmed",
    to: ["Jane <jane@shop.example>"],
    cc: ["bob@shop.example"],
    replyTo: ["help@shop.example"],
    from: "Shop <orders@shop.example>",
    parameters: { number: "A-1", nested: { list: [1, "two", null] } },
    headers: { "X-Campaign": "spring" },
    idempotencyKey: "graphql:1",
    owner: "customer:7",
    expiresAt: "2040-01-01T00:00:00Z",
    priority: -1,
    maxAttempts: 3,
  };
  const send = async (more: object = {}) =>
    (await ask(ENQUEUE, { input: { ...input, ...more } })).data.enqueueEmail;
  const first = await send();
  assert.equal(first.refusal, null);
  const row = await mail(pool, first.email.id);
  assert.deepEqual(
    [row.parameters, row.headers, row.priority, row.max_attempts],
    [input.parameters, input.headers, -1, 3],
  );
  assert.equal((await send()).email.id, first.email.id);
  assert.equal((await send({ to: ["eve@shop.example"] })).refusal.reason, "KEY_TAKEN");
  assert.deepEqual((await send({ idempotencyKey: null, to: ["nonsense"] })).email.status, "FAILED");
  assert.equal((await send({ idempotencyKey: null, headers: { Bcc: "x@y.test" } })).refusal.code, "PH005");
  const { errors } = await ask(ENQUEUE, {
    input: { ...input, idempotencyKey: null, sendAt: "tomorrow-ish" },
  });
  assert.equal(errors[0].extensions.code, "BAD_INPUT");
  assert.doesNotMatch(errors[0].message, /tomorrow/);
});
