import pg from "pg";
import type { TestDatabase } from "../database.ts";

/** Tables made so far in this process. */
let tables = 0;

/** A table with the trigger; the mails that an insert into it enqueues. */
export async function shopTable(
  database: TestDatabase,
  args: string[],
  options: { columns?: string; when?: string } = {},
) {
  const table = `shop_${++tables}`;
  const columns =
    options.columns ??
    "id int, email text, number text, total numeric, note text, tags text[], at timestamptz, tenant int, plain timestamp";
  await database.pool.query(`create table public.${table} (${columns})`);
  await database.pool.query(
    `create trigger mail ${options.when ?? "after insert or update"} on public.${table} for each row
     execute function posthaste.enqueue_row(${args.map((arg) => pg.escapeLiteral(arg)).join(", ")})`,
  );
  return {
    table,
    async add(row: Record<string, unknown>) {
      await database.pool.query(
        `insert into public.${table} select * from json_populate_record(null::public.${table}, $1)`,
        [JSON.stringify(row)],
      );
      return this.mails();
    },
    mails: () =>
      database.query("select * from posthaste.email_messages where template = $1 order by id", [
        table.replace("_", "-"),
      ]),
    template: table.replace("_", "-"),
  };
}

/** The arguments that every trigger here needs; the template's name is the table's. */
export const basics = (...more: string[]) => [`template=shop-${tables + 1}`, "recipient=email", ...more];
