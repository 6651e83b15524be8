import type { Ledger, TransportStatus } from "../database/ledger.ts";
import type { EmailRow } from "../database/store.ts";

/** Why a mail waits although it is due, where that is its transport; null otherwise. */
export type StandingStill = (email: EmailRow) => string | null;

/** Reads which transports stand still; asks nothing when none of the mails waits. */
export async function readStandingStill(ledger: Ledger, emails: readonly EmailRow[]): Promise<StandingStill> {
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
