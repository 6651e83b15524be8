import type { Queryable } from "./mails.ts";

/** Inserts mail that has come to its end, or waits, and is this many days old; the ids. `more`: columns and their SQL. */
export async function aged(
  on: Queryable,
  count: number,
  days: number,
  status: "SENT" | "FAILED" | "CANCELLED" | "PENDING" | "SENDING" = "SENT",
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const fields = { template: "'order-confirmed'", ...more };
  const { rows } = await on.query(
    `insert into posthaste.email_messages (recipients, send_at, ${Object.keys(fields).join(", ")})
     select array[format('p%s@shop.example', n)], now() + interval '10 years', ${Object.values(fields).join(", ")}
     from generate_series(1, $1::int) n returning id`,
    [count],
  );
  const ids = rows.map(({ id }) => id);
  await on.query(
    `with dated as (
       update posthaste.email_messages m set status = case when $3 = 'SENDING' then 'SENDING' else m.status end,
         locked_until = case when $3 = 'SENDING' then now() + interval '1 hour' end,
         lease_token = case when $3 = 'SENDING' then gen_random_uuid() end,
         created_at = now() - $2 * interval '1 day' - random() * interval '1 hour'
       where m.id = any ($1) returning m.id)
     select from dated`,
    [ids, days, status],
  );
  if (status === "PENDING" || status === "SENDING") return ids;
  await on.query(
    `update posthaste.email_messages m set status = $3, finished_at = m.created_at + interval '1 minute',
       sent_at = case when $3 = 'SENT' then m.created_at + interval '1 minute' end, error_code = case when $3 = 'FAILED' then 'message_refused' end
     where m.id = any ($1) and $2::int is not null`,
    [ids, days, status],
  );
  return ids;
}
