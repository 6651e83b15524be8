import type { AttemptRow, EmailFilter, QueueStats, TransportStatus } from "./ledger.ts";
import type { Querying } from "./querying.ts";
import type { EmailRow } from "./rows.ts";

/** One mail of a page, and where it stands in the order: text, because a Date would lose the microseconds. */
export interface PageEntry {
  readonly id: string;
  readonly at: string;
}

/** Which page. */
export interface PageRequest {
  readonly filter: EmailFilter;
  readonly sort: "newest" | "next_due";
  /** At most 1,000. */
  readonly max: number;
  /** The last entry of the page before; null: the first page. */
  readonly after: PageEntry | null;
}

/** How many mails of a status a filter matches; `capped`: there are more. */
export interface StatusCount {
  readonly status: EmailRow["status"];
  readonly emails: number;
  readonly capped: boolean;
}

/** A row of posthaste.operator_actions. */
export interface OperatorActionRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly login: string;
  readonly action: string;
  readonly email_id: string | null;
  readonly transport: string | null;
  readonly filter: EmailFilter | null;
  readonly reason: string | null;
  readonly emails: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

/** What live workers know about a template. */
export interface PublishedTemplate {
  readonly name: string;
  readonly versions: readonly string[];
  readonly required: readonly string[];
  readonly secrets: readonly string[];
  readonly workers: number;
}

/** One page of the mails that a filter matches. */
export async function pageOfEmails(client: Querying, request: PageRequest): Promise<readonly PageEntry[]> {
  const { filter, sort, max, after } = request;
  return select(
    client,
    "select id, to_json(at) #>> '{}' as at from posthaste.email_page($1, $2, $3, $4, $5)",
    JSON.stringify(filter),
    sort,
    max,
    after?.at ?? null,
    after?.id ?? null,
  );
}

/** How many mails a filter matches, for each status; counted to 10,000. */
export function countEmails(client: Querying, filter: EmailFilter): Promise<readonly StatusCount[]> {
  return select(client, "select * from posthaste.email_counts($1)", JSON.stringify(filter));
}

/**
 * These columns of these mails, in the order of the ids; null for those that the reader does not see. The columns are the
 * program's own words: they become part of the statement, so that PostgreSQL asks for the right to read no others.
 */
export async function emailsById(
  client: Querying,
  ids: readonly string[],
  columns: readonly (keyof EmailRow)[],
): Promise<readonly (Partial<EmailRow> | null)[]> {
  const known = columns.filter((column) => /^[a-z_]+$/.test(column));
  const rows = await select<Partial<EmailRow>>(
    client,
    `select ${[...new Set(["id", ...known])].join(", ")} from posthaste.email_messages where id = any ($1::uuid[])`,
    [...new Set(ids)],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id.toLowerCase()) ?? null);
}

/** The id of the mail of each key; null for those that there are not, or that the reader does not see. */
export async function idsOfKeys(
  client: Querying,
  keys: readonly string[],
): Promise<readonly (string | null)[]> {
  const rows = await select<{ id: string | null }>(
    client,
    "select posthaste.email_of_key(k.key) as id from unnest($1::text[]) with ordinality k(key, position) order by k.position",
    [...keys],
  );
  return rows.map(({ id }) => id);
}

/** The attempts of each mail, in their order. */
export async function attemptsOf(
  client: Querying,
  ids: readonly string[],
): Promise<readonly (readonly AttemptRow[])[]> {
  const rows = await select<AttemptRow>(
    client,
    "select * from posthaste.email_attempts where email_id = any ($1::uuid[]) order by email_id, number",
    [...new Set(ids)],
  );
  const byId = Map.groupBy(rows, ({ email_id }) => email_id);
  return ids.map((id) => byId.get(id) ?? []);
}

/** How the queue is. */
export async function queueStats(client: Querying): Promise<QueueStats> {
  const [row] = await select<QueueStats>(
    client,
    `select pending::float8, sending::float8, sent::float8, failed::float8, cancelled::float8, ended_are_estimates, due::float8,
      oldest_due_at, expired_leases::float8, live_workers::float8, listening_workers::float8, transports, environment
    from posthaste.queue_stats()`,
  );
  return row as QueueStats;
}

/** The transports, and why one is stopped. */
export function transports(client: Querying): Promise<readonly TransportStatus[]> {
  return select(
    client,
    `select name, is_default as default, state, since, failures, error_code, reason, paused_by, next_probe_at from posthaste.transports()`,
  );
}

/** The templates that live workers know. */
export function templates(client: Querying): Promise<readonly PublishedTemplate[]> {
  return select(client, "select * from posthaste.templates()");
}

/** What operators did, newest first. */
export function pageOfActions(
  client: Querying,
  request: { readonly max: number; readonly after: PageEntry | null },
): Promise<readonly (OperatorActionRow & { readonly position: string })[]> {
  return select(
    client,
    `select *, to_json(at) #>> '{}' as position from posthaste.operator_actions
     where $2::timestamptz is null or (at, id) < ($2, $3::uuid) order by at desc, id desc limit $1`,
    request.max,
    request.after?.at ?? null,
    request.after?.id ?? null,
  );
}

async function select<T>(client: Querying, text: string, ...values: unknown[]): Promise<readonly T[]> {
  return (await client.query({ text, values })).rows as readonly T[];
}
