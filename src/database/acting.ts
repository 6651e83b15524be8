import type { EmailFilter, MatchedCount } from "./ledger.ts";
import type { Querying } from "./querying.ts";

/** Sends a FAILED mail again. Throws pg's error with a PH code when that cannot be done. */
export async function retryEmail(client: Querying, id: string): Promise<void> {
  await client.query({ text: "select from posthaste.retry($1)", values: [id] });
}

/** Withdraws a waiting mail. Throws pg's error with a PH code when that cannot be done. */
export async function cancelEmail(client: Querying, id: string): Promise<void> {
  await client.query({ text: "select from posthaste.cancel($1)", values: [id] });
}

/** What is done to all mails that a filter matches. */
export type MatchingAction = "retry_matching" | "cancel_matching";

/** Begins an action that is done in several transactions; its id, for the setting posthaste.action. */
export async function beginAction(
  client: Querying,
  action: MatchingAction,
  filter: EmailFilter,
): Promise<string> {
  const values = [action, JSON.stringify(filter)];
  const { rows } = await client.query({ text: "select posthaste.begin_action($1, $2) as id", values });
  return rows[0].id;
}

/** One call of retry_matching or cancel_matching; what became of the mails. */
export async function actOnMatching(
  client: Querying,
  action: MatchingAction,
  filter: EmailFilter,
  options: { readonly dryRun: boolean; readonly max: number },
): Promise<readonly MatchedCount[]> {
  const { rows } = await client.query({
    text: `select outcome, emails::int from posthaste.${CALLS[action]}($1, $2, $3)`,
    values: [JSON.stringify(filter), options.dryRun, options.max],
  });
  return rows;
}

const CALLS = { retry_matching: "retry_matching", cancel_matching: "cancel_matching" } as const;

/** Stops a transport. */
export async function pauseTransport(
  client: Querying,
  transport: string,
  reason: string | null,
): Promise<void> {
  await client.query({ text: "select posthaste.pause($1, $2)", values: [transport, reason] });
}

/** Lets a transport send again. Throws pg's error with a PH code when it is not paused. */
export async function resumeTransport(client: Querying, transport: string): Promise<void> {
  await client.query({ text: "select posthaste.resume($1)", values: [transport] });
}

/** Enqueues a mail; its id. The fields are arguments of posthaste.enqueue() by name. Throws pg's error with a PH code when it is malformed. */
export async function enqueueEmail(
  client: Querying,
  fields: Readonly<Record<string, unknown>>,
): Promise<string> {
  const given = Object.entries(fields).filter(([name]) => /^[a-z_]+$/.test(name));
  const values = given.map(([name, value]) => (JSON_ARGUMENTS.has(name) ? JSON.stringify(value) : value));
  const named = given.map(([name], index) => `${name} => $${index + 1}`).join(", ");
  const { rows } = await client.query({ text: `select posthaste.enqueue(${named}) as id`, values });
  return rows[0].id;
}

const JSON_ARGUMENTS = new Set(["parameters", "attachments", "headers"]);
