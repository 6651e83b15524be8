import type { AttemptRow } from "../database/ledger.ts";
import type { EmailRow } from "../database/store.ts";

/** A mail as `--json` tells it: its row without what may be secret. */
export interface EmailDocument extends Omit<EmailRow, "parameters" | "lease_token"> {
  /** Only where they were asked for. */
  readonly attempts?: readonly AttemptRow[];
}

/** Leaves out the parameters, which may hold codes and links that open an account, and the lease's token, which is a key. */
export function emailDocument(email: EmailRow, attempts?: readonly AttemptRow[]): EmailDocument {
  const { parameters, lease_token, ...told } = email;
  return attempts === undefined ? told : { ...told, attempts };
}
