import { eventually } from "../faults/eventually.ts";
import { brokenInvariants } from "../faults/invariants.ts";
import { type Ledger, readLedger } from "../faults/ledger.ts";
import type { Scene } from "../faults/scene.ts";

/** What a scene comes to in the end, in numbers. */
export interface Account {
  readonly mails: number;
  /** Mail that nobody got and that is not at its end, or that its row wrongly says was delivered. */
  readonly lost: number;
  /** Copies beyond the first. */
  readonly secondCopies: number;
  /** Recipients with a second copy whose row does not say that there may be one. */
  readonly unflagged: number;
  /** Mail whose row says so. */
  readonly flagged: number;
  /** Invariants that do not hold, with their rows; see `brokenInvariants`. */
  readonly broken: Readonly<Record<string, unknown[]>>;
  readonly ledger: Ledger;
}

/** Counts what has become of all mail of a scene, when it is drained. */
export async function accountOf({ database, server }: Pick<Scene, "database" | "server">): Promise<Account> {
  const ledger = await readLedger(database, server.accepted);
  const [{ mails, flagged }] = await database.query(
    "select count(*)::int as mails, count(*) filter (where possible_duplicate)::int as flagged from posthaste.email_messages",
  );
  let broken: Account["broken"] = {};
  // What a crash has just left behind is maintenance's to mend, each second.
  await eventually(
    "all invariants hold",
    async () => {
      broken = await brokenInvariants(database, 1000);
      return Object.keys(broken).length === 0;
    },
    6_000,
  ).catch(() => undefined);
  const copies = server.accepted.flatMap(({ messageId, recipients }) =>
    recipients.map((recipient) => `${messageId} ${recipient}`),
  );
  return {
    mails,
    lost: ledger.lost.length + ledger.waiting.length,
    secondCopies: copies.length - new Set(copies).size,
    unflagged: ledger.unflagged.length + ledger.unexpected.length,
    flagged,
    broken,
    ledger,
  };
}
