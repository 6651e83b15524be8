import assert from "node:assert/strict";
import { suite, test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../database.ts";
import { errorOf, jobsOf } from "./mails.ts";
import { basics, shopTable } from "./shop-table.ts";

const database = await createTestDatabase();
const { pool } = database;

suite("a trigger with enqueue_row", () => {
  test("enqueues a mail from every kind of argument", async () => {
    const orders = await shopTable(
      database,
      [
        ...basics(
          "parameters=number,total, tags ,at",
          "key=order:{id}:{number}",
          "reference=order:{id}",
          "owner={tenant}",
          "transport=bulk",
          "priority=-5",
          "max_attempts=2",
          "cc=tags",
          "bcc=note",
          "reply_to=note",
          "from_address=from",
          "locale=lang",
          "send_at=plain",
          "expires_at=at",
        ),
      ],
      {
        columns:
          'id int, email text, number text, total numeric, note text, tags text[], at timestamptz, tenant int, plain timestamp, "from" text, lang text',
      },
    );
    const at = "2100-01-02T00:00:00+00:00";
    const [row] = await orders.add({
      id: 7,
      email: "Ada <a@x.test>",
      number: "N7",
      total: 12.5,
      note: "n@x.test",
      tags: ["b@x.test", "c@x.test"],
      at,
      tenant: 3,
      plain: "2100-01-01T00:00:00",
      from: "Shop <s@x.test>",
      lang: "de",
    });
    const {
      recipients,
      cc,
      bcc,
      reply_to,
      parameters,
      idempotency_key,
      reference,
      owner,
      transport,
      priority,
      max_attempts,
      from_address,
      locale,
    } = row;
    assert.deepEqual(
      {
        recipients,
        cc,
        bcc,
        reply_to,
        idempotency_key,
        reference,
        owner,
        transport,
        priority,
        max_attempts,
        from_address,
        locale,
      },
      {
        recipients: ["Ada <a@x.test>"],
        cc: ["b@x.test", "c@x.test"],
        bcc: ["n@x.test"],
        reply_to: ["n@x.test"],
        idempotency_key: "order:7:N7",
        reference: "order:7",
        owner: "3",
        transport: "bulk",
        priority: -5,
        max_attempts: 2,
        from_address: "Shop <s@x.test>",
        locale: "de",
      },
    );
    assert.deepEqual(
      { ...parameters, at: new Date(parameters.at) },
      { number: "N7", total: 12.5, tags: ["b@x.test", "c@x.test"], at: new Date(at) },
    );
    assert.deepEqual([row.expires_at, row.send_at < row.expires_at], [new Date(at), true]);
  });

  test("takes one or several recipients from a column, and both together", async () => {
    const orders = await shopTable(database, basics("recipients=tags"));
    const [row] = await orders.add({ email: "a@x.test", tags: ["b@x.test", "c@x.test"] });
    assert.deepEqual(row.recipients, ["a@x.test", "b@x.test", "c@x.test"]);
    assert.equal((await jobsOf(pool, row.id)).length, 1);
  });

  test("enqueues in the transaction of the row: a rollback leaves neither", async () => {
    const orders = await shopTable(database, basics());
    await pool.query(`begin; insert into public.${orders.table} (email) values ('a@x.test'); rollback`);
    assert.deepEqual(await orders.mails(), []);
  });

  test("never reads a brace in a value as a pattern", async () => {
    const orders = await shopTable(database, basics("reference={note}/{number}/{{id}}"));
    const [row] = await orders.add({ email: "a@x.test", id: 1, note: "{id}{nothing}", number: "{" });
    assert.equal(row.reference, "{id}{nothing}/{/{1}");
  });

  test("skips a known key, and never undoes the row", async () => {
    const orders = await shopTable(database, basics("key=shop:{id}", "parameters=note"));
    assert.equal((await orders.add({ id: 1, email: "a@x.test", note: "one" })).length, 1);
    assert.equal((await orders.add({ id: 1, email: "b@x.test", note: "another" })).length, 1);
    const { rows } = await pool.query(`update public.${orders.table} set note = 'x' returning id`);
    assert.equal(rows.length, 2);
    assert.equal((await orders.mails()).length, 1);
  });

  test("skips the second of two rows with one key in one statement", async () => {
    const orders = await shopTable(database, basics("key=both:{id}"));
    await pool.query(
      `insert into public.${orders.table} (id, email) values (1, 'a@x.test'), (1, 'a@x.test')`,
    );
    assert.equal((await orders.mails()).length, 1);
  });

  test("uses an expired key anew", async () => {
    const orders = await shopTable(database, basics("key=old:{id}"));
    await orders.add({ id: 1, email: "a@x.test" });
    await pool.query("update posthaste_private.idempotency_keys set expires_at = now() where key = 'old:1'");
    assert.equal((await orders.add({ id: 1, email: "a@x.test" })).length, 2);
  });

  test("makes a FAILED row of a null, empty or bad address, and the row stands", async () => {
    const orders = await shopTable(database, basics());
    for (const email of [null, "", "nobody"]) await orders.add({ email });
    const mails = await orders.mails();
    assert.deepEqual(
      mails.map(({ status, error_code }) => [status, error_code]),
      Array(3).fill(["FAILED", "recipient_invalid"]),
    );
  });

  test("takes a null in a pattern for no key, no reference and no owner, so that no mail is taken for another", async () => {
    const orders = await shopTable(
      database,
      basics("key=order:{id}", "reference=order:{id}", "owner={tenant}"),
    );
    await orders.add({ email: "a@x.test" });
    const mails = await orders.add({ email: "b@x.test" });
    assert.deepEqual(
      mails.map(({ idempotency_key, reference, owner }) => [idempotency_key, reference, owner]),
      Array(2).fill([null, null, null]),
    );
  });

  test("takes null columns for what may be left out", async () => {
    const orders = await shopTable(
      database,
      basics("cc=tags", "locale=note", "send_at=at", "expires_at=at", "from_address=note", "parameters=note"),
    );
    const [row] = await orders.add({ email: "a@x.test" });
    assert.deepEqual(
      [row.status, row.cc, row.locale, row.expires_at, row.parameters],
      ["PENDING", [], null, null, { note: null }],
    );
  });

  test("is fired by a login without any right in Posthaste", async () => {
    const orders = await shopTable(database, basics());
    const login = await database.login();
    await pool.query(`grant insert on public.${orders.table} to ${login.name}`);
    const client = new pg.Client({ connectionString: login.connectionString });
    await client.connect();
    await client.query(`insert into public.${orders.table} (email) values ('a@x.test')`);
    const denied = await errorOf(client.query("select posthaste.enqueue('order-confirmed', 'a@x.test')"));
    await client.end();
    assert.equal(denied.code, "42501");
    assert.equal((await orders.mails()).length, 1);
  });
});
