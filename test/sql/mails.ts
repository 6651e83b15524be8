import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { EmailRow } from "../../src/database/rows.ts";

/** What can run a statement: a pool, or a client inside a transaction. */
export type Queryable = Pick<pg.Pool, "query">;

/** Fields of a request by the names of posthaste.enqueue's arguments, or of the table's columns. */
export type Fields = Readonly<Record<string, unknown>>;

/** The policy that a worker passes with outcomes. */
export const POLICY = { delays: [30_000, 120_000], max_age: 432_000_000, on_unknown_outcome: "resend" };

/** Enqueues a mail to ada@shop.example, or as the fields say; its id. */
export async function enqueue(on: Queryable, fields: Fields = {}): Promise<string> {
  const request = { template: "order-confirmed", ...fields };
  const all: Fields = "recipients" in request ? request : { recipient: "ada@shop.example", ...request };
  const names = Object.keys(all);
  const list = names.map((name, index) => `${name} => $${index + 1}`).join(", ");
  const { rows } = await on.query(`select posthaste.enqueue(${list}) as id`, values(all));
  return rows[0].id;
}

/** Enqueues by a plain insert; its id. */
export async function insert(on: Queryable, fields: Fields = {}, rest = ""): Promise<string | undefined> {
  const all: Fields = { template: "order-confirmed", recipients: ["ada@shop.example"], ...fields };
  const names = Object.keys(all);
  const list = names.map((_, index) => `$${index + 1}`).join(", ");
  const { rows } = await on.query(
    `insert into posthaste.email_messages (${names.join(", ")}) values (${list}) ${rest} returning id`,
    values(all),
  );
  return rows[0]?.id;
}

/** The row of a mail. */
export async function mail(on: Queryable, id: string): Promise<EmailRow> {
  const { rows } = await on.query("select * from posthaste.email_messages where id = $1", [id]);
  assert.equal(rows.length, 1, `there is a mail ${id}`);
  return rows[0];
}

/** The jobs of a mail. */
// biome-ignore lint/suspicious/noExplicitAny: rows of Graphile Worker.
export async function jobsOf(on: Queryable, id: string): Promise<any[]> {
  const { rows } = await on.query("select * from graphile_worker.jobs where key = 'posthaste:' || $1", [id]);
  return rows;
}

/** Claims mails for a worker. */
export async function claim(on: Queryable, ids: readonly string[], worker = "w1"): Promise<EmailRow[]> {
  const { rows } = await on.query(
    "select * from posthaste_private.claim($1, $2, '60 seconds', 'production', 'shop.example')",
    [ids, worker],
  );
  return rows;
}

/** Enqueues and claims a mail. */
export async function claimed(on: Queryable, fields: Fields = {}): Promise<{ id: string; token: string }> {
  const id = await enqueue(on, fields);
  const [row] = await claim(on, [id]);
  assert.ok(row?.lease_token);
  return { id, token: row.lease_token };
}

/** Records the end of an attempt; what became of it. */
export async function record(
  on: Queryable,
  lease: { id: string; token: string },
  outcome: Fields,
  policy: Fields = POLICY,
  // biome-ignore lint/suspicious/noExplicitAny: a test knows its columns.
): Promise<any> {
  const told = { ...lease, refund: "no", accepted: [], refused: {}, ...outcome };
  const { rows } = await on.query("select * from posthaste_private.record_outcomes($1, $2)", [
    JSON.stringify([told]),
    JSON.stringify(policy),
  ]);
  assert.equal(rows.length, 1);
  return rows[0];
}

/** An outcome that puts a mail off. */
export function later(outcome: Fields = {}): Fields {
  return { kind: "retry", error_code: "message_deferred", phase: "data", ...outcome };
}

/** Brings a waiting mail to its time and claims it. */
export async function again(on: Queryable, id: string): Promise<{ id: string; token: string }> {
  await on.query("update posthaste.email_messages set next_attempt_at = now() where id = $1", [id]);
  const [row] = await claim(on, [id]);
  assert.ok(row?.lease_token);
  return { id, token: row.lease_token };
}

/** The attempts of a mail, in their order. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows its columns.
export async function attemptsOf(on: Queryable, id: string): Promise<any[]> {
  return (await on.query("select * from posthaste_private.attempts_of($1)", [id])).rows;
}

/** A word that no other test uses. */
export function unique(word: string): string {
  return `${word}:${randomUUID()}`;
}

/** The error of a statement that must fail. */
// biome-ignore lint/suspicious/noExplicitAny: the fields of a database error.
export async function errorOf(statement: Promise<unknown>): Promise<any> {
  return statement.then(
    () => assert.fail("the statement succeeds"),
    (error: unknown) => error,
  );
}

/** Waits until so many sessions of this database wait for a lock; on a pool, because a transaction sees old statistics. */
export async function someoneWaits(pool: pg.Pool, sessions = 1): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const { rows } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if (rows.length >= sessions) return;
    assert.ok(performance.now() < deadline, "sessions wait for a lock");
  }
}

/** Runs work in a transaction of its own and commits, or rolls back when it throws. */
export async function transaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  begin = "begin",
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** pg sends arrays as PostgreSQL arrays; what is meant as JSON must be text before. */
function values(fields: Fields): unknown[] {
  return Object.entries(fields).map(([name, value]) =>
    value !== null && ["parameters", "headers", "attachments"].includes(name) && typeof value !== "string"
      ? JSON.stringify(value)
      : value,
  );
}
