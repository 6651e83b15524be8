import type { SchemaState } from "../database/check-schema.ts";
import type { Ledger, TransportStatus } from "../database/ledger.ts";
import type { EmailRow } from "../database/store.ts";
import { unlessOlder } from "./older-schema.ts";
import { when } from "./when.ts";

/** Why a mail that is due does not move: its transport stands still, or the worker that holds it is gone; null otherwise. */
export type StandingStill = (email: EmailRow) => string | null;

/** Reads which transports stand still and which workers are gone; asks only what the mails make necessary. */
export async function readStandingStill(
  ledger: Ledger,
  schema: SchemaState,
  emails: readonly EmailRow[],
): Promise<StandingStill> {
  const transportOf = await readTransports(ledger, emails);
  const workerOf = await readWorkers(ledger, schema, emails);
  return (email) => transportOf(email) ?? workerOf(email);
}

async function readTransports(ledger: Ledger, emails: readonly EmailRow[]): Promise<StandingStill> {
  if (!emails.some(({ status }) => status === "PENDING")) return () => null;
  const transports = await ledger.transports();
  const standing = new Map(
    transports.filter(({ state }) => state !== "closed").map((each) => [each.name, each]),
  );
  const usual = transports.find((each) => each.default)?.name;
  return ({ status, transport }) => {
    const found = status === "PENDING" ? standing.get(transport ?? usual ?? "") : undefined;
    return found === undefined ? null : describe(found);
  };
}

function describe({ name, state, reason, error_code: code, paused_by }: TransportStatus): string {
  if (state === "paused") {
    const why = reason === null ? "" : `: ${reason}`;
    return `waits, because the transport ${name} is paused by ${paused_by}${why} (\`posthaste resume ${name}\`)`;
  }
  return `waits, because the transport ${name} is stopped: ${reason ?? code ?? "see `posthaste status`"}`;
}

async function readWorkers(
  ledger: Ledger,
  schema: SchemaState,
  emails: readonly EmailRow[],
): Promise<StandingStill> {
  const holders = new Set(
    emails.flatMap(({ status, locked_by: by }) => (status === "SENDING" && by ? [by] : [])),
  );
  if (holders.size === 0) return () => null;
  const gone = new Set(await unlessOlder(schema, ledger.goneWorkers([...holders]), []));
  if (gone.size === 0) return () => null;
  const others = (await ledger.stats()).live_workers > 0;
  return (email) =>
    email.status === "SENDING" && gone.has(email.locked_by ?? "") ? abandoned(email, others) : null;
}

/** What was not handed over goes back at the next maintenance; what may have been sent waits for its lease to end. */
function abandoned({ handed_over_at: handedOver, locked_until: until }: EmailRow, others: boolean): string {
  const start = "start one with `posthaste worker`";
  if (handedOver !== null && until !== null) {
    const settled = `was handed over by a worker that is gone; it is settled when its lease ends, ${when(until)}`;
    return others ? settled : `${settled}, by another worker: none runs, ${start}`;
  }
  return others
    ? "is held by a worker that is gone; another one takes it up again at its next maintenance"
    : `is held by a worker that is gone, and no other one runs: ${start}`;
}
