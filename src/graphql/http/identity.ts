/** Who asks, as the token says. */
export interface Identity {
  readonly role: "viewer" | "operator";
  /** Whose mail a viewer sees; null: nobody's. */
  readonly owner: string | null;
  /** Who an operator is, for the record of actions. */
  readonly subject: string;
}

/** The roles that a token can name, and nothing else ever becomes a role of the database. */
const ROLES = {
  viewer: { role: "posthaste_viewer", timeout: "3s" },
  operator: { role: "posthaste_operator", timeout: "10s" },
} as const;

/**
 * The settings of a request's transactions. Without an identity the statements run as the login itself, which may do
 * nothing.
 */
export function settingsOf(identity: Identity | null): Record<string, string> {
  const { role, timeout } = identity === null ? { role: "none", timeout: "1s" } : ROLES[identity.role];
  return {
    role,
    statement_timeout: timeout,
    idle_in_transaction_session_timeout: "10s",
    "posthaste.owner": identity?.owner ?? "",
    "posthaste.actor": identity?.subject ?? "",
    "posthaste.action": "",
  };
}

/** The identity that a token's claims tell of; null when they tell of none. */
export function identityOf(claims: Readonly<Record<string, unknown>>): Identity | null {
  const { role, owner, sub } = claims;
  if (role !== "viewer" && role !== "operator") return null;
  if (owner !== undefined && !isText(owner)) return null;
  if (sub !== undefined && !isText(sub)) return null;
  return { role, owner: owner ?? null, subject: sub ?? `${role} by token` };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 200 && !/[\x00-\x1f\x7f]/.test(value);
}
