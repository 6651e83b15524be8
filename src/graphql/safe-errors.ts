import { SafeError } from "postgraphile/grafast";

/** What a client is told about an error, under `extensions`. */
export interface ErrorExtensions {
  /** FORBIDDEN, BAD_INPUT, TIMEOUT, UNAVAILABLE, or a SQLSTATE of the PH class. */
  readonly code: string;
  readonly field?: string | null;
  readonly hint?: string | null;
}

/** An error whose message the client may read. Everything else is masked. */
export function safeError(message: string, extensions: ErrorExtensions): SafeError {
  return new SafeError(message, { ...extensions });
}

/**
 * Runs what asks the database. What the database refuses comes out as an error that says so without quoting anything: its
 * own texts name columns, constraints, and sometimes values.
 */
export async function safely<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw described(error) ?? error;
  }
}

/** An error of the database in words for a client; null when it is none that a client can do anything about. */
export function described(error: unknown): SafeError | null {
  const { code, message, hint, column, syscall } = Object(error) as Partial<Record<string, string>>;
  if (UNREACHABLE.test(code ?? message ?? "") || syscall === "connect" || syscall === "getaddrinfo")
    return safeError("The database cannot be reached at the moment.", { code: "UNAVAILABLE" });
  if (typeof code !== "string") return null;
  // Raised by our own functions, which keep values out of their texts.
  if (code.startsWith("PH"))
    return safeError(sentence(message ?? ""), { code, field: column ?? null, hint: hint ?? null });
  const [name, text] = KNOWN[code] ?? KNOWN[code.slice(0, 2)] ?? [];
  return name === undefined || text === undefined ? null : safeError(text, { code: name });
}

/** The message with a capital and a full stop. */
export function sentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
}

/** Of the system, and of the driver, whose errors have no code. */
const UNREACHABLE =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** By SQLSTATE or its class. */
const KNOWN: Readonly<Record<string, readonly [string, string]>> = {
  "42501": ["FORBIDDEN", "Your role may not read or do that."],
  "22": [
    "BAD_INPUT",
    "A value that was given cannot be read: look at times, numbers, and characters that cannot be stored.",
  ],
  "57014": ["TIMEOUT", "The database took too long; ask for less."],
  "08": ["UNAVAILABLE", "The database cannot be reached at the moment."],
  "53": ["UNAVAILABLE", "The database has no room for this request at the moment."],
  "57": ["UNAVAILABLE", "The database is going down or coming up."],
};
