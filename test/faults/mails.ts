import assert from "node:assert/strict";
import type { TestDatabase } from "../database.ts";
import { eventually } from "./eventually.ts";

/** What a scene needs of its database. */
export type SceneDatabase = Pick<TestDatabase, "connectionString" | "pool" | "query"> & {
  close?(): Promise<void>;
};

/** A row of posthaste.email_messages. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows its columns.
export type Row = Record<string, any> & { readonly id: string; readonly status: string };

/** The mails of a database, as a producer and an operator see them. */
export interface Mails {
  /** Enqueues a mail by posthaste.enqueue() with these arguments; its id. */
  enqueue(values?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Enqueues `count` mails in one statement: to person1@customer.example and so on, parameters `{"n": 1}` and so on. */
  enqueueMany(count: number): Promise<string[]>;
  row(id: string): Promise<Row>;
  /** The attempts of a mail, in order. */
  attempts(id: string): Promise<Row[]>;
  /** The row, as soon as it has this status. */
  until(id: string, status: string, within?: number): Promise<Row>;
  /** Makes a waiting mail due now. */
  hurry(id: string): Promise<void>;
  /** When no mail waits or is being sent any more. */
  drained(within?: number): Promise<void>;
}

/** The mails of this database. */
export function mailsOf(database: SceneDatabase): Mails {
  const mails: Mails = {
    async enqueue(values = {}) {
      const all = { template: "plain", recipient: "ada@customer.example", ...values };
      const named = Object.keys(all).map((name, index) => `${name} => $${index + 1}`);
      const [row] = await database.query(
        `select posthaste.enqueue(${named.join(", ")}) as id`,
        Object.values(all),
      );
      return row.id;
    },
    async enqueueMany(count) {
      const rows = await database.query(
        `insert into posthaste.email_messages (template, recipients, parameters)
         select 'plain', array[format('person%s@customer.example', n)], jsonb_build_object('n', n) from generate_series(1, $1) n
         returning id`,
        [count],
      );
      return rows.map(({ id }) => id);
    },
    async row(id) {
      const [row] = await database.query<Row>("select * from posthaste.email_messages where id = $1", [id]);
      assert.ok(row, `there is no mail ${id}`);
      return row;
    },
    attempts: (id) =>
      database.query<Row>("select * from posthaste.email_attempts where email_id = $1 order by number", [id]),
    async until(id, status, within) {
      let last: Row | undefined;
      try {
        return await eventually(
          `${id} is ${status}`,
          async () => {
            last = await mails.row(id);
            return last.status === status && last;
          },
          within,
        );
      } catch (error) {
        throw new Error(`${(error as Error).message} Last: ${JSON.stringify(last)}`);
      }
    },
    async hurry(id) {
      await database.query("update posthaste.email_messages set next_attempt_at = now() where id = $1", [id]);
      await database.query("select posthaste_private.add_jobs(array[$1::uuid])", [id]);
    },
    async drained(within = 30_000) {
      await eventually(
        "no mail waits or is being sent",
        async () =>
          (
            await database.query(
              "select from posthaste.email_messages where status in ('PENDING', 'SENDING') limit 1",
            )
          ).length === 0,
        within,
      );
    },
  };
  return mails;
}
