import { PosthasteError } from "../errors.ts";
import { sqlState } from "./sql-error.ts";

/** What a command needs; every other one needs the login that owns Posthaste's schemas. */
const ROLES: Readonly<Record<string, "producer" | "operator">> = {
  enqueue: "producer",
  status: "operator",
  list: "operator",
  show: "operator",
  retry: "operator",
  cancel: "operator",
  pause: "operator",
  resume: "operator",
  erase: "operator",
};

/**
 * "Permission denied" as a sentence that says which role the command needs; null for any other error.
 * @param command name of the command, e.g. `list`
 */
export function permissionError(
  error: unknown,
  command: string,
  connectionString: string,
): PosthasteError | null {
  if (sqlState(error) !== "42501") return null;
  const { message } = error as Error;
  const login = loginOf(connectionString);
  const who = login === null ? "This login" : `The login ${JSON.stringify(login)}`;
  const role = ROLES[command];
  const need =
    role === undefined
      ? `\`posthaste ${command}\` runs as the login that owns Posthaste's schemas, the one of \`posthaste migrate\`; applications and operators do not need it.`
      : `\`posthaste ${command}\` needs the role posthaste_${role}: whoever owns the schemas gives it with \`posthaste migrate --grant ${role}=${login ?? "LOGIN"}\`.`;
  return new PosthasteError(`${who} may not do that in this database (${message}). ${need}`, {
    cause: error,
  });
}

function loginOf(connectionString: string): string | null {
  if (!URL.canParse(connectionString)) return null;
  try {
    return decodeURIComponent(new URL(connectionString).username) || null;
  } catch {
    return null;
  }
}
