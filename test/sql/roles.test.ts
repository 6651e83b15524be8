import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { claimed, enqueue, errorOf, mail, record } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

const ROLES = ["producer", "operator", "viewer"];

/** What each role may do with each table; `*` is the whole table. What is not here is denied. */
const TABLES: Record<string, string> = {
  "producer INSERT posthaste.email_messages":
    "attachments bcc cc expires_at from_address headers idempotency_key locale max_attempts owner parameters priority recipients reference reply_to send_at template transport",
  "producer SELECT posthaste.email_messages": "id idempotency_key",
  "operator SELECT posthaste.email_archive": "*",
  "operator SELECT posthaste.email_attempts": "*",
  "operator SELECT posthaste.email_messages": "*",
  "operator SELECT posthaste.files": "checksum content_type created_at id name size",
  "operator SELECT posthaste.operator_actions": "*",
  "operator SELECT posthaste_private.idempotency_keys": "email_id key",
  "operator SELECT posthaste_private.migrations": "*",
  "operator SELECT posthaste_private.recipient_index": "*",
  "viewer SELECT posthaste.email_messages":
    "created_at error_code id owner reference sent_at status template",
  "viewer SELECT posthaste_private.idempotency_keys": "email_id key",
  "viewer SELECT posthaste_private.migrations": "*",
};

/** Which functions each role may call. */
const FUNCTIONS: Record<string, string[]> = {
  producer: ["posthaste.email_status", "posthaste.enqueue", "posthaste.enqueue_row", "posthaste.put_file"],
  operator: [
    "posthaste.begin_action", "posthaste.cancel", "posthaste.cancel_matching", "posthaste.email_counts", "posthaste.email_of_key", "posthaste.email_page",
    "posthaste.email_status", "posthaste.enqueue", "posthaste.erase_recipient", "posthaste.pause", "posthaste.queue_stats", "posthaste.resume", "posthaste.retry", "posthaste.retry_matching",
    "posthaste.templates", "posthaste.transports", "posthaste_private.attempts_of", "posthaste_private.check_filter", "posthaste_private.default_transport",
    "posthaste_private.email_conditions", "posthaste_private.email_sources", "posthaste_private.find_emails", "posthaste_private.gone_workers", "posthaste_private.list_emails", "posthaste_private.matching",
    "posthaste_private.measurements", "posthaste_private.queue_troubles", "posthaste_private.reject", "posthaste_private.texts", "posthaste_private.transport_conditions",
  ],
  viewer: [
    "posthaste.email_counts", "posthaste.email_of_key", "posthaste.email_page", "posthaste_private.check_filter", "posthaste_private.default_transport",
    "posthaste_private.email_conditions", "posthaste_private.email_sources", "posthaste_private.reject", "posthaste_private.texts", "posthaste_private.transport_conditions",
  ],
}; // biome-ignore format: a table

suite("the rights of the roles are, cell by cell,", () => {
  test("these on tables and columns", async () => {
    const rows = await database.query(
      `select format('%s %s %s', r.name, p.privilege, c.oid::regclass) as cell,
         case when has_table_privilege('posthaste_' || r.name, c.oid, p.privilege) then '*' else (
           select string_agg(a.attname, ' ' order by a.attname collate "C") from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
             and has_column_privilege('posthaste_' || r.name, c.oid, a.attnum, case when p.by_column then p.privilege else 'select' end) and p.by_column) end as columns
       from unnest($1::text[]) r(name), pg_class c,
         (values ('SELECT', true), ('INSERT', true), ('UPDATE', true), ('REFERENCES', true), ('DELETE', false), ('TRUNCATE', false), ('TRIGGER', false)) p(privilege, by_column)
       where c.relkind in ('r', 'v', 'm', 'p') and c.relnamespace::regnamespace::text in ('posthaste', 'posthaste_private', 'graphile_worker')`,
      [ROLES],
    );
    const granted = rows
      .filter(({ columns }) => columns !== null)
      .map(({ cell, columns }) => [cell, columns]);
    assert.deepEqual(Object.fromEntries(granted.sort()), Object.fromEntries(Object.entries(TABLES).sort()));
  });

  for (const role of ROLES) {
    test(`these on functions for ${role}`, async () => {
      const rows = await database.query(
        `select f.pronamespace::regnamespace || '.' || f.proname as name from pg_proc f
         where f.pronamespace::regnamespace::text in ('posthaste', 'posthaste_private') and has_function_privilege($1, f.oid, 'execute')`,
        [`posthaste_${role}`],
      );
      assert.deepEqual(rows.map(({ name }) => name).sort(), FUNCTIONS[role]);
    });
  }

  test("none on the schema of Graphile Worker, none to create, and no role is a member of another or may log in", async () => {
    const rows = await database.query(
      `select r.rolname, r.rolcanlogin or r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb as strong,
         has_schema_privilege(r.oid, 'graphile_worker', 'usage') as worker,
         has_schema_privilege(r.oid, 'posthaste', 'create') or has_schema_privilege(r.oid, 'posthaste_private', 'create') as creates,
         exists (select from pg_auth_members m where m.member = r.oid) as member
       from pg_roles r where r.rolname = any ($1)`,
      [ROLES.map((role) => `posthaste_${role}`)],
    );
    assert.equal(rows.length, 3);
    for (const row of rows)
      assert.deepEqual(row, {
        rolname: row.rolname,
        strong: false,
        worker: false,
        creates: false,
        member: false,
      });
  });

  test("none for everybody", async () => {
    const { name } = await database.login();
    const stranger = database.as(name);
    for (const statement of [
      "select from posthaste.email_messages",
      "select posthaste.queue_stats()",
      "select posthaste_private.new_id()",
      "select posthaste.enqueue('a', 'a@x.test')",
    ]) {
      assert.match((await errorOf(stranger.query(statement))).message, /permission denied for schema/);
    }
  });
});

suite("a viewer", () => {
  const seven = database.as("posthaste_viewer", { "posthaste.owner": "7" });

  test("sees the mail of its owner, and no other", async () => {
    const own = await enqueue(pool, { owner: "7", reference: "order:1", idempotency_key: "own" });
    await enqueue(pool, { owner: "8", reference: "order:1", idempotency_key: "other" });
    await enqueue(pool, { reference: "order:1" });
    const { rows } = await seven.query(
      "select id, template, status, created_at, sent_at, error_code, owner, reference from posthaste.email_messages",
    );
    assert.deepEqual(
      rows.map(({ id }) => id),
      [own],
    );
    const page = "select id from posthaste.email_page($1)";
    assert.deepEqual((await seven.query(page, [{ reference: "order:1" }])).rows, [{ id: own }]);
    assert.deepEqual((await seven.query(page, [{ owner: "8" }])).rows, []);
    assert.deepEqual(
      (await seven.query("select status, emails from posthaste.email_counts() where emails > 0")).rows,
      [{ status: "PENDING", emails: 1 }],
    );
    assert.deepEqual((await seven.query("select key from posthaste_private.idempotency_keys")).rows, [
      { key: "own" },
    ]);
    assert.deepEqual(
      (
        await seven.query(
          "select posthaste.email_of_key('own') as own, posthaste.email_of_key('other') as other",
        )
      ).rows,
      [{ own, other: null }],
    );
  });

  for (const column of [
    "recipients",
    "parameters",
    "error_message",
    "subject",
    "message_id",
    "lease_token",
    "provider_response",
    "headers",
    "*",
  ]) {
    test(`may not read ${column}, nor find mail by it`, async () => {
      assert.equal(
        (await errorOf(seven.query(`select ${column} from posthaste.email_messages`))).code,
        "42501",
      );
      if (column !== "*")
        assert.equal(
          (await errorOf(seven.query(`select id from posthaste.email_messages where ${column} is null`)))
            .code,
          "42501",
        );
    });
  }

  test("may not filter by what it may not read", async () => {
    for (const filter of [
      { recipient: "ada@shop.example" },
      { possible_duplicate: true },
      { transport: "default" },
    ]) {
      assert.equal(
        (await errorOf(seven.query("select * from posthaste.email_page($1)", [filter]))).code,
        "42501",
        JSON.stringify(filter),
      );
    }
  });

  test("may not write, act or read attempts", async () => {
    for (const statement of [
      "update posthaste.email_messages set owner = '7'",
      "delete from posthaste.email_messages",
      "insert into posthaste.email_messages (template, recipients) values ('a', '{a@x.test}')",
      "select from posthaste.email_attempts",
      "select posthaste.queue_stats()",
      "select posthaste.retry(null)",
      "select from posthaste.operator_actions",
      "select from posthaste_private.recipient_index",
      "select fingerprint from posthaste_private.idempotency_keys",
    ]) {
      assert.equal((await errorOf(seven.query(statement))).code, "42501", statement);
    }
  });

  test("without an owner, or with an empty one, sees nothing", async () => {
    for (const settings of [{}, { "posthaste.owner": "" }]) {
      const viewer = database.as("posthaste_viewer", settings as Record<string, string>);
      assert.deepEqual((await viewer.query("select id from posthaste.email_messages")).rows, []);
    }
  });
});

test("an operator reads all mail and its attempts, and changes it by the functions alone", async () => {
  const operator = database.as("posthaste_operator");
  const lease = await claimed(pool, { owner: "9" });
  await record(pool, lease, { kind: "failed", error_code: "message_refused" });
  assert.deepEqual(
    (await operator.query("select recipients from posthaste.email_messages where id = $1", [lease.id])).rows,
    [{ recipients: ["ada@shop.example"] }],
  );
  assert.equal(
    (await operator.query("select from posthaste.email_attempts where email_id = $1", [lease.id])).rowCount,
    1,
  );
  for (const statement of [
    "update posthaste.email_messages set status = 'SENT'",
    "delete from posthaste.email_messages",
    "delete from posthaste.email_attempts",
    "insert into posthaste.email_messages (template, recipients) values ('a', '{a@x.test}')",
    "delete from posthaste.operator_actions",
    "select posthaste.configure('strict', 'true')",
    "select fingerprint from posthaste_private.idempotency_keys",
    "select from posthaste_private.settings",
  ]) {
    assert.equal((await errorOf(operator.query(statement))).code, "42501", statement);
  }
  await operator.query("select posthaste.retry($1)", [lease.id]);
  assert.equal((await mail(pool, lease.id)).status, "PENDING");
});
