import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { errorOf, insert, jobsOf, mail, transaction, unique } from "./mails.ts";
import { listenForJobs } from "./notifications.ts";

const database = await createTestDatabase();
const { pool } = database;
const producer = database.as("posthaste_producer");

const BULK = `insert into posthaste.email_messages (template, recipients, parameters, idempotency_key)
  select 'newsletter', array['reader' || n || '@shop.example'], jsonb_build_object('n', n), $1 || n
  from generate_series(1, $2::int) n on conflict do nothing returning id`;

suite("many mails in one statement", () => {
  test("10,000 rows get 10,000 jobs and exactly one notification", async () => {
    const jobs = await listenForJobs(pool);
    const { rows } = await producer.query(BULK, [unique("news"), 10_000]);
    assert.equal(rows.length, 10_000);
    assert.equal(await jobs.count(), 1);
    const [{ count }] = await database.query(
      "select count(*)::int from graphile_worker.jobs where key = any (select 'posthaste:' || unnest($1::text[]))",
      [rows.map(({ id }) => id)],
    );
    assert.equal(count, 10_000);
    await jobs.close();
  });

  test("whose keys are all known add no row, no job and no notification with `on conflict do nothing`", async () => {
    const prefix = unique("news");
    const first = (await producer.query(BULK, [prefix, 10])).rows;
    assert.equal(first.length, 10);
    const jobs = await listenForJobs(pool);
    const before = await database.query("select count(*) from graphile_worker.jobs");
    assert.deepEqual((await producer.query(BULK, [prefix, 10])).rows, []);
    assert.deepEqual(await database.query("select count(*) from graphile_worker.jobs"), before);
    assert.equal(await jobs.count(), 0);
    assert.equal((await producer.query(BULK, [prefix, 11])).rows.length, 1, "what is new is added");
    assert.equal(await jobs.count(), 1);
    await jobs.close();
  });

  test("an empty set adds nothing and notifies nobody", async () => {
    const jobs = await listenForJobs(pool);
    assert.deepEqual((await producer.query(BULK, [unique("news"), 0])).rows, []);
    assert.equal(await jobs.count(), 0);
    await jobs.close();
  });

  test("a bad address among them makes one FAILED row, and the others get their jobs", async () => {
    const { rows } = await producer.query(
      `insert into posthaste.email_messages (template, recipients)
       values ('news', '{a@x.test}'), ('news', '{nobody}'), ('news', '{b@x.test}') returning id`,
    );
    const mails = await Promise.all(rows.map(({ id }) => mail(pool, id)));
    assert.deepEqual(
      mails.map(({ status }) => status),
      ["PENDING", "FAILED", "PENDING"],
    );
    const jobs = await Promise.all(rows.map(({ id }) => jobsOf(pool, id)));
    assert.deepEqual(
      jobs.map(({ length }) => length),
      [1, 0, 1],
    );
  });

  test("one malformed row refuses the whole statement", async () => {
    const reference = unique("order");
    const error = await errorOf(
      producer.query(
        `insert into posthaste.email_messages (template, recipients, reference)
         values ('news', '{a@x.test}', $1), ('no such/', '{a@x.test}', $1)`,
        [reference],
      ),
    );
    assert.equal(error.code, "PH003");
    assert.deepEqual(
      await database.query("select from posthaste.email_messages where reference = $1", [reference]),
      [],
    );
  });

  test("copy from makes mails like an insert", async () => {
    const reference = unique("copy");
    await database.query(
      "create table public.requests as select 'news' as template, '{a@x.test}'::text[] as recipients, $1::text as reference".replace(
        "$1",
        `'${reference}'`,
      ),
    );
    const [{ path }] = await database.query(
      "select current_setting('data_directory') || '/requests.csv' as path",
    );
    await database.query(`copy public.requests to '${path}' csv`);
    await database.query(
      `copy posthaste.email_messages (template, recipients, reference) from '${path}' csv`,
    );
    const [row] = await database.query(
      "select id, status from posthaste.email_messages where reference = $1",
      [reference],
    );
    assert.equal(row.status, "PENDING");
    assert.equal((await jobsOf(pool, row.id)).length, 1);
  });
});

suite("columns that belong to Posthaste", () => {
  const forged = {
    status: "SENT",
    attempt_count: 5,
    deferral_count: 3,
    next_attempt_at: "2020-01-01",
    locked_at: "2020-01-01",
    locked_until: "2020-01-01",
    locked_by: "me",
    lease_token: "00000000-0000-0000-0000-000000000001",
    handed_over_at: "2020-01-01",
    delivered_to: ["ada@shop.example"],
    refused: '{"a": {}}',
    error_code: "expired",
    error_message: "x",
    possible_duplicate: true,
    message_id: "<forged@x.test>",
    subject: "x",
    provider_response: "250",
    transport_used: "x",
    template_version: "x",
    created_at: "2020-01-01",
    sent_at: "2020-01-01",
    finished_at: "2020-01-01",
  };

  test("are overwritten when the owner inserts them", async () => {
    const plain = await mail(pool, (await insert(pool)) ?? "");
    const row = await mail(pool, (await insert(pool, forged)) ?? "");
    assert.ok(Date.now() - row.created_at.getTime() < 60_000);
    assert.deepEqual(row.next_attempt_at, row.created_at);
    for (const name of Object.keys(forged).filter(
      (name) => !["created_at", "next_attempt_at"].includes(name),
    )) {
      assert.deepEqual(row[name as keyof typeof row], plain[name as keyof typeof row], name);
    }
  });

  for (const name of [...Object.keys(forged), "id"]) {
    test(`a producer may not insert ${name}`, async () => {
      const value =
        name === "id" ? "00000000-0000-7000-8000-000000000001" : forged[name as keyof typeof forged];
      assert.equal((await errorOf(insert(producer, { [name]: value }))).code, "42501");
    });
  }

  test("a producer may insert every column of a request", async () => {
    const id = await insert(producer, {
      parameters: {},
      locale: "de-CH",
      from_address: "shop@x.test",
      cc: ["b@x.test"],
      bcc: ["c@x.test"],
      reply_to: ["d@x.test"],
      attachments: [],
      headers: {},
      transport: "bulk",
      priority: 1,
      idempotency_key: unique("k"),
      reference: "order:1",
      owner: "7",
      send_at: new Date(),
      expires_at: new Date(Date.now() + 60_000),
      max_attempts: 2,
    });
    assert.equal((await mail(pool, id ?? "")).owner, "7");
  });

  test("a producer sees the ids of its own transaction, and no other mail", async () => {
    await insert(pool);
    await transaction(producer, async (client) => {
      const id = await insert(client);
      const { rows } = await client.query("select id from posthaste.email_messages");
      assert.deepEqual(rows, [{ id }]);
      assert.equal(
        (await errorOf(client.query("select recipients from posthaste.email_messages"))).code,
        "42501",
      );
      await client.query("rollback");
    });
    assert.deepEqual((await producer.query("select id from posthaste.email_messages")).rows, []);
  });
});
