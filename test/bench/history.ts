import type pg from "pg";

/**
 * Past years: sent mail, each with its attempt, index entry and key; and as much of it waiting as is asked for.
 * @param rows.due when the waiting mail is due, from now on: an interval. Default: in ten years
 */
export async function fillHistory(
  database: pg.Pool,
  rows: { sent: number; waiting?: number; due?: string },
): Promise<void> {
  const { sent, waiting = 0, due = "10 years" } = rows;
  const client = await database.connect();
  try {
    await client.query("begin");
    // Without triggers: they would make the rows those of today, and it would take minutes.
    await client.query("set local session_replication_role = replica");
    const { rows: added } = await client.query(
      `with added as (
         insert into posthaste.email_messages (id, status, template, parameters, recipients, idempotency_key, reference, send_at, next_attempt_at,
           max_attempts, attempt_count, delivered_to, message_id, subject, provider_response, transport_used, created_at, sent_at, finished_at)
         select posthaste.new_id(), case when n <= $1::int then 'SENT' else 'PENDING' end, 'order-confirmed',
           jsonb_build_object('number', n, 'items', repeat('x', 300)), array['p' || n || '@customer.example'], 'old:' || $3 || n, 'order:' || n,
           t.at, case when n <= $1 then t.at else now() + $3::interval end, 8, 1, array['p' || n || '@customer.example'], '<' || n || '@shop.example>', 'Your order ' || n,
           '250 2.0.0 Ok', 'default', t.at, case when n <= $1 then t.at end, case when n <= $1 then t.at end
         from generate_series(1, $1 + $2::int) n, lateral (select now() - interval '100 days' - n * interval '10 seconds') t(at)
         returning id, status, recipients, idempotency_key, created_at
       ), attempts as (
         insert into posthaste.email_attempts (email_id, number, worker, started_at, outcome, phase)
         select id, 1, 'w', created_at, 'sent', 'final_dot' from added where status = 'SENT'
       ), recipients as (
         insert into posthaste_private.recipient_index (address, email_id, created_at)
         select recipients[1], id, created_at from added
       ), keys as (
         insert into posthaste_private.idempotency_keys (key, email_id, fingerprint)
         select idempotency_key, id, sha256(id::text::bytea) from added
       )
       select count(*)::int as count from added`,
      [sent, waiting, due],
    );
    await client.query("commit");
    if (added[0].count !== sent + waiting) throw new Error(`Only ${added[0].count} rows were added.`);
    await client.query("vacuum analyze");
  } finally {
    client.release();
  }
}
