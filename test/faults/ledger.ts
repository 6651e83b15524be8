import { parseMailbox } from "../../src/message/addresses.ts";
import type { TestDatabase } from "../database.ts";
import type { AcceptedMessage } from "../smtp-server.ts";

/** What was committed, held against what mail servers took: by Message-ID and recipient. Each entry is `id address`. */
export interface Ledger {
  /** Mail that has not come to an end. */
  readonly waiting: readonly string[];
  /** The row says that this recipient has it; no server ever took it. */
  readonly lost: readonly string[];
  /** Taken more than once. */
  readonly duplicated: readonly string[];
  /** Of these, the ones whose row does not say that there may be a second copy. */
  readonly unflagged: readonly string[];
  /** Taken, but the row does not say so; a row that says that its outcome is unknown is no such case. */
  readonly unrecorded: readonly string[];
  /** Nobody has committed such a mail, or not to this recipient. */
  readonly unexpected: readonly string[];
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly message_id: string | null;
  readonly addresses: readonly string[];
  readonly delivered_to: readonly string[];
  readonly possible_duplicate: boolean;
  readonly error_code: string | null;
}

/** Compares all mail of a database with what the servers took. */
export async function readLedger(
  database: Pick<TestDatabase, "query">,
  accepted: readonly AcceptedMessage[],
): Promise<Ledger> {
  const rows = await database.query<Row>(
    `select m.id, m.status, m.message_id, m.delivered_to, m.possible_duplicate, m.error_code,
       posthaste_private.addresses_of(m) as addresses
     from posthaste.email_messages m`,
  );
  const copies = new Map<string, number>();
  for (const { messageId, recipients } of accepted)
    for (const recipient of recipients) {
      const pair = `${messageId} ${recipient}`;
      copies.set(pair, (copies.get(pair) ?? 0) + 1);
    }
  const waiting: string[] = [];
  const lost: string[] = [];
  const duplicated: string[] = [];
  const unflagged: string[] = [];
  const unrecorded: string[] = [];
  for (const row of rows) {
    if (row.status === "PENDING" || row.status === "SENDING") waiting.push(row.id);
    const delivered = new Set(row.delivered_to.map(wire));
    for (const address of new Set(row.addresses.map(wire))) {
      const pair = `${row.message_id} ${address}`;
      const taken = copies.get(pair) ?? 0;
      copies.delete(pair);
      const name = `${row.id} ${address}`;
      if (taken === 0 && delivered.has(address)) lost.push(name);
      if (taken > 1) duplicated.push(name);
      if (taken > 1 && !row.possible_duplicate) unflagged.push(name);
      if (taken > 0 && !delivered.has(address) && row.error_code !== "outcome_unknown") unrecorded.push(name);
    }
  }
  const unexpected = [...copies.keys()];
  for (const list of [waiting, lost, duplicated, unflagged, unrecorded, unexpected]) list.sort();
  return { waiting, lost, duplicated, unflagged, unrecorded, unexpected };
}

/** As the server sees it. */
function wire(address: string): string {
  return parseMailbox(address)?.wire ?? address;
}
