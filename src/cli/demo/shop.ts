import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "../../database/pool.ts";
import { quote, result } from "./print.ts";

/** The demo's application: a shop with a table of orders. All of its SQL is shown as it runs. */
export interface Shop {
  /** Shows statements, runs them, tells how many rows they touched. */
  run(sql: string): Promise<void>;
  /** Shows a query and returns its rows. */
  ask(sql: string): Promise<Record<string, unknown>[]>;
  /** The way of an order's mail so far: each status, and when it was committed, in milliseconds after the order. */
  way(order: number): Promise<readonly { status: string; after: number }[]>;
  /** Waits until the mail has one of these statuses, without showing anything. */
  until(order: number, statuses: readonly string[]): Promise<void>;
  /** Columns of the mail that operators see. */
  mail(order: number): Promise<Record<string, unknown>>;
}

/** What the shop adds to its database. */
export const SCHEMA = `create table orders (
  id bigint primary key, number text, customer_name text, customer_email text, items jsonb, total numeric);

create trigger confirm_order after insert on orders for each row execute function posthaste.enqueue_row(
  'template=order-confirmed', 'recipient=customer_email', 'parameters=number,customer_name,items,total',
  'key=order-confirmed:{id}', 'reference=order:{id}');`;

// For the demo alone: each status that a mail ever had is a row of its own, whose transaction's time of commit is known.
const HISTORY = `create schema demo;
create table demo.history (email_id uuid, status text);
create function demo.note_status() returns trigger language plpgsql as $$ begin
  insert into demo.history values (new.id, new.status);
  return null;
end $$;
create trigger note_status after insert or update of status on posthaste.email_messages
  for each row execute function demo.note_status();`;

const WAY = `select h.status, (extract(epoch from pg_xact_commit_timestamp(h.xmin) - pg_xact_commit_timestamp(o.xmin)) * 1000)::float8 as after
from orders o join posthaste.email_messages m on m.reference = 'order:' || o.id join demo.history h on h.email_id = m.id
where o.id = $1 order by pg_xact_commit_timestamp(h.xmin)`;

/** Opens the shop on a connection of its own; the demo's record of statuses is installed. */
export async function openShop(client: Connection): Promise<Shop> {
  await client.query(HISTORY);
  const mail = async (order: number): Promise<Record<string, unknown>> => {
    const text = "select * from posthaste.email_messages where reference = $1";
    return (await client.query(text, [`order:${order}`])).rows[0] ?? {};
  };
  return {
    async run(sql) {
      quote(sql);
      const done = await client.query(sql);
      if (done.rowCount) result(done.rowCount === 1 ? "1 row" : `${done.rowCount} rows`);
    },
    async ask(sql) {
      quote(sql);
      return (await client.query(sql)).rows;
    },
    way: async (order) => (await client.query(WAY, [order])).rows,
    async until(order, statuses) {
      // Often, but it is not what is measured: the times come from the server.
      while (!statuses.includes(String((await mail(order)).status))) await delay(10);
    },
    mail,
  };
}
