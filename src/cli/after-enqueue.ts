import { closest } from "../configuration/closest.ts";
import type { EnqueueArguments, Ledger } from "../database/ledger.ts";
import { sqlState } from "./sql-error.ts";

/** What is known of a mail that has just been enqueued. */
export interface Enqueued {
  readonly id: string;
  /** Null: the login may not read it, and has given no key or reference to ask by. */
  readonly status: string | null;
  readonly error_code: string | null;
  /** Null as well where the login may not read it. */
  readonly error_message: string | null;
}

/** Reads what became of a mail, as far as the login may: a producer is told by key or reference only. */
export async function readEnqueued(
  ledger: Ledger,
  id: string,
  { idempotency_key: key, reference }: EnqueueArguments,
): Promise<Enqueued> {
  const unknown = { id, status: null, error_code: null, error_message: null };
  const found = await unlessDenied(ledger.find(id, 1));
  if (found !== null) return found[0] ?? unknown;
  if (key === undefined && reference === undefined) return unknown;
  const told = await ledger.status((key as string) ?? null, (reference as string) ?? null);
  return { ...unknown, ...told.find((each) => each.id === id) };
}

/** A sentence when live workers have templates, but not this one; null otherwise, and for a login that may not know. */
export async function templateNote(ledger: Ledger, template: string): Promise<string | null> {
  const names = await unlessDenied(ledger.templates());
  if (names === null || names.length === 0 || names.includes(template)) return null;
  const guess = closest(template, names);
  const known = `There are ${names.join(", ")}.`;
  return `No running worker has a template ${JSON.stringify(template)}, so the mail will fail. ${guess === null ? known : `Did you mean ${guess}? ${known}`}`;
}

async function unlessDenied<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (sqlState(error) === "42501") return null;
    throw error;
  }
}
