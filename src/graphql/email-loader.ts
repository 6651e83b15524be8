import { loadOneWithPgClient, type PgClient, type PgExecutor } from "postgraphile/@dataplan/pg";
import type { Multistep, Step } from "postgraphile/grafast";
import { emailsById, idsOfKeys } from "../database/pages.ts";
import type { EmailRow } from "../database/rows.ts";
import { isUuid } from "./node-id.ts";
import { safely } from "./safe-errors.ts";

/** Columns that a viewer may read: those of the role posthaste_viewer. */
export const VIEWER_COLUMNS: readonly (keyof EmailRow)[] = [
  "id",
  "status",
  "template",
  "owner",
  "reference",
  "created_at",
  "sent_at",
  "error_code",
];

interface Info {
  readonly attributes: readonly PropertyKey[];
}

function load(client: PgClient, ids: readonly (string | null | undefined)[], { attributes }: Info) {
  return safely(async () => {
    const rows = await emailsById(client, ids.filter(isUuid), attributes as (keyof EmailRow)[]);
    let next = 0;
    return ids.map((id) => (isUuid(id) ? (rows[next++] ?? null) : null));
  });
}

// Two loaders, hence two statements: what an operator alone may read must not take the rest down with it.
const viewerColumns = {
  name: "emails",
  load: (client: PgClient, ids: readonly (string | null | undefined)[], info: Info) =>
    load(client, ids, info),
};
const operatorColumns = {
  name: "emailsForOperators",
  load: (client: PgClient, ids: readonly (string | null | undefined)[], info: Info) =>
    load(client, ids, info),
};
const keys = {
  name: "emailOfKey",
  load: (client: PgClient, given: readonly string[]) => safely(() => idsOfKeys(client, given)),
};

/** A column of the mail with this id. Columns that are asked for together are read together, for all mails of the answer. */
export function column(executor: PgExecutor, $id: Step, name: keyof EmailRow): Step {
  const loader = VIEWER_COLUMNS.includes(name) ? viewerColumns : operatorColumns;
  // biome-ignore lint/suspicious/noExplicitAny: the loader's types do not follow which columns are asked for.
  return (loadOneWithPgClient as any)(executor, $id as Multistep, loader).get(name);
}

/** The id, or null when the reader sees no such mail. */
export function visibleId(executor: PgExecutor, $id: Step): Step {
  return column(executor, $id, "id");
}

/** The id of the mail of an idempotency key, or null. */
export function idOfKey(executor: PgExecutor, $key: Step<string>): Step {
  return loadOneWithPgClient(executor, $key, keys);
}
