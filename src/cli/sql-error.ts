/** What our SQL refuses on purpose. */
export interface Refusal {
  /** SQLSTATE of the PH class, e.g. `PH021`. */
  readonly code: string;
  /** What is refused and what to do instead. */
  readonly sentence: string;
}

/** Reads an error that our SQL raised on purpose; null for any other. */
export function refusal(error: unknown): Refusal | null {
  const code = sqlState(error);
  if (!code?.startsWith("PH")) return null;
  const { message, hint } = error as Error & { hint?: string };
  const sentence = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
  return { code, sentence: hint ? `${sentence} ${hint}` : sentence };
}

/** SQLSTATE of an error that the server reported; null for any other error. */
export function sqlState(error: unknown): string | null {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === "string" && typeof severity === "string" ? code : null;
}
