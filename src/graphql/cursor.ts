import type { PageEntry } from "../database/pages.ts";
import { safeError } from "./safe-errors.ts";

/** Most entries of one page. */
export const MOST_ENTRIES = 100;
/** Entries of a page when the client does not say. */
export const DEFAULT_ENTRIES = 25;

/** A page as GraphQL shows it. */
export interface Page<Entry> {
  readonly edges: readonly { readonly cursor: string; readonly node: Entry }[];
  readonly nodes: readonly Entry[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/** How many entries are asked for, and from where on. Throws a safe error when either cannot be. */
export function readPaging(
  first: number | null | undefined,
  after: string | null | undefined,
): { readonly first: number; readonly after: PageEntry | null } {
  const count = first ?? DEFAULT_ENTRIES;
  if (count < 0 || count > MOST_ENTRIES) {
    throw safeError(`first must be 0 to ${MOST_ENTRIES}; it was ${count}. Fetch the rest with after.`, {
      code: "BAD_INPUT",
      field: "first",
    });
  }
  return { first: count, after: after === null || after === undefined ? null : decode(after) };
}

/** A page of rows that were read with one more than was asked for. */
export function pageOf<Row, Entry>(
  rows: readonly Row[],
  first: number,
  isFirstPage: boolean,
  place: (row: Row) => PageEntry,
  entry: (row: Row) => Entry,
): Page<Entry> {
  const edges = rows.slice(0, first).map((row) => ({ cursor: encode(place(row)), node: entry(row) }));
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: rows.length > first,
      hasPreviousPage: !isFirstPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function encode({ at, id }: PageEntry): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

function decode(cursor: string): PageEntry {
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as unknown[];
    if (typeof at === "string" && typeof id === "string" && TIME.test(at) && UUID.test(id)) return { at, id };
  } catch {
    // It is told below.
  }
  throw safeError("after must be a cursor that this list has given.", { code: "BAD_INPUT", field: "after" });
}

const TIME = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?([+-]\d\d:\d\d(:\d\d)?|Z)$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
