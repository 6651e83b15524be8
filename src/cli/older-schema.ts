import type { SchemaState } from "../database/check-schema.ts";
import { sqlState } from "./sql-error.ts";

/** What the query answers; `otherwise` when the schema is older than this program and lacks what the query needs. */
export async function unlessOlder<T>({ state }: SchemaState, query: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (state === "older" && sqlState(error)?.startsWith("42")) return otherwise;
    throw error;
  }
}
