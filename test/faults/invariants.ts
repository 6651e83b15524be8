import type { TestDatabase } from "../database.ts";

/** Each query gives the rows that break a promise of the database's. */
const BROKEN = {
  "leases that ran out long ago": `
    select id from posthaste.email_messages
    where status = 'SENDING' and locked_until < now() - $1::double precision * 2 * interval '1 millisecond'`,
  "due mail without a job that can run": `
    select id from posthaste.email_messages m
    where status = 'PENDING' and next_attempt_at <= now() and not posthaste_private.is_blocked(m.transport)
      and $1::double precision is not null
      and not exists (select from graphile_worker.jobs j where j.key = 'posthaste:' || m.id and j.attempts < j.max_attempts)`,
  // An attempt that late evidence made superfluous has no end of its own.
  "attempts that ended without a row, or with more than one": `
    select m.id, m.attempt_count, m.deferral_count, a.ended, a.last from posthaste.email_messages m
    cross join lateral (
      select count(*) filter (where outcome <> 'released')::int as ended, count(*)::int as all, coalesce(max(number), 0) as last
      from posthaste.email_attempts where email_id = m.id) a
    where $1::double precision is not null and (a.last <> a.all
      or m.attempt_count + m.deferral_count - (m.status = 'SENDING')::int - a.ended
        not between 0 and (m.status = 'SENT' and m.possible_duplicate)::int)`,
  "mail that is at its end and holds a lease": `
    select id from posthaste.email_messages
    where status in ('SENT', 'FAILED', 'CANCELLED') and (lease_token is not null or locked_until is not null)
      and $1::double precision is not null`,
  "SENT mail that nobody got": `
    select id from posthaste.email_messages
    where status = 'SENT' and delivered_to = '{}' and $1::double precision is not null`,
  "SENT mail without an attempt": `
    select id from posthaste.email_messages m where status = 'SENT' and $1::double precision is not null
      and not exists (select from posthaste.email_attempts a where a.email_id = m.id)`,
} as const;

/**
 * What must hold whatever has happened, once maintenance has run: lists the promises that are broken, with the rows.
 * @param maintenanceInterval milliseconds
 */
export async function brokenInvariants(
  database: Pick<TestDatabase, "query">,
  maintenanceInterval: number,
): Promise<Record<string, unknown[]>> {
  const broken: Record<string, unknown[]> = {};
  for (const [promise, query] of Object.entries(BROKEN)) {
    const rows = await database.query(query, [maintenanceInterval]);
    if (rows.length > 0) broken[promise] = rows;
  }
  return broken;
}
