import type pg from "pg";
import { PosthasteError } from "../errors.ts";
import { version as packageVersion } from "../package-root.ts";
import { compareVersions, readHiddenRecord, readRecord, type SchemaRecord } from "./schema-record.ts";
import { readSqlFiles, type SqlFiles } from "./sql-files.ts";

/** How the schema in a database compares with this program. */
export type SchemaState =
  | { readonly state: "ok"; readonly version: string }
  | { readonly state: "missing" }
  /** `migrate` has something to do. */
  | { readonly state: "older"; readonly version: string; readonly pending: readonly string[] }
  /** A newer program has changed it: this one must not touch it. */
  | { readonly state: "newer"; readonly version: string };

/** Compares the schema in the database with this program's, as far as the login may see it, without changing anything. */
export async function checkSchema(client: pg.ClientBase, sqlDirectory?: string): Promise<SchemaState> {
  const files = await readSqlFiles(sqlDirectory);
  const hidden = await readHiddenRecord(client);
  // It is there, and who may not see it does not change it either.
  if (hidden?.version === null) return { state: "ok", version: packageVersion };
  const record = hidden ?? (await readRecord(client));
  if (record.version === null) return { state: "missing" };
  if (isNewer(record, files)) return { state: "newer", version: record.version };
  // With --no-roles the files of roles are never recorded; they are not pending for a worker.
  const pending = files.migrations.filter(({ id, roles }) => !roles && !record.migrations.has(id));
  const current =
    hidden !== null || [true, false].some((roles) => files.functions(roles).hash === record.functionsHash);
  if (pending.length === 0 && current) return { state: "ok", version: record.version };
  return {
    state: "older",
    version: record.version,
    pending: [...pending.map(({ file }) => file), ...(current ? [] : ["functions"])],
  };
}

/** What to tell a person about a schema that is not `ok`, null when it is. */
export function schemaError(schema: SchemaState): PosthasteError | null {
  switch (schema.state) {
    case "ok":
      return null;
    case "missing":
      return new PosthasteError(
        "The database does not hold Posthaste's schema: run `posthaste migrate` first, with the same DATABASE_URL.",
      );
    case "older":
      return new PosthasteError(
        `The schema in the database is of Posthaste ${schema.version} and lacks ${schema.pending.join(", ")}: ` +
          `run \`posthaste migrate\` of version ${packageVersion} first.`,
      );
    case "newer":
      return newerError(schema.version);
  }
}

/** Whether the database was changed by a newer program, or by one with migrations that this one does not know. */
export function isNewer(record: SchemaRecord, files: SqlFiles): boolean {
  const known = new Set(files.migrations.map(({ id }) => id));
  const unknown = [...record.migrations.keys()].some((id) => !known.has(id));
  return unknown || (record.version !== null && compareVersions(record.version, packageVersion) > 0);
}

/** Exit code 57, as Graphile Worker's own. */
export function newerError(version: string): PosthasteError {
  return new PosthasteError(
    `The database's schema is newer than this program: it was changed by Posthaste ${version}, and this is ${packageVersion}. ` +
      "Run that version or a later one.",
    { exitCode: 57 },
  );
}
