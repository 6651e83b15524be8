import type pg from "pg";

/** What the database says about the schema that it holds. */
export interface SchemaRecord {
  /** Applied migrations: number to file hash. The hash is null where only a schema-only dump's comment tells of it. */
  readonly migrations: ReadonlyMap<number, { readonly slug: string; readonly hash: string | null }>;
  /** Hash of the functions as they were applied last, null before. */
  readonly functionsHash: string | null;
  /** Version of the program that changed the schema last, null without a schema. */
  readonly version: string | null;
  /** Graphile Worker's revision that the comment tells of; only for a restored schema-only dump, null otherwise. */
  readonly restoredRevision: number | null;
}

/**
 * The table that records what was applied. Functions have the row with id 0: hash of all of them together.
 * The version is that of the program that applied the row, so a release without changes of the schema leaves no trace
 * and can be rolled back.
 */
export const RECORD_TABLE = `create schema if not exists posthaste_private;
create table if not exists posthaste_private.migrations (
  id int primary key,
  slug text not null,
  hash text not null,
  applied_at timestamptz not null default now(),
  version text not null
);
comment on table posthaste_private.migrations is 'What \`posthaste migrate\` has applied; id 0 stands for all functions together.';
comment on column posthaste_private.migrations.id is 'Number of the file in sql/migrations.';
comment on column posthaste_private.migrations.slug is 'Name of the file after its number.';
comment on column posthaste_private.migrations.hash is 'SHA-256 of its text.';
comment on column posthaste_private.migrations.applied_at is 'When it was applied.';
comment on column posthaste_private.migrations.version is 'Version of Posthaste that applied it.';
revoke all on schema posthaste_private from public;
`;

/** Reads the record: from the table, or from the comment on schema posthaste where the table is empty (a schema-only dump). */
export async function readRecord(client: pg.ClientBase): Promise<SchemaRecord> {
  const { rows: found } = await client.query(
    `select to_regclass('posthaste_private.migrations') is not null as installed,
       obj_description(to_regnamespace('posthaste'), 'pg_namespace') as comment`,
  );
  if (!found[0]?.installed) return EMPTY;
  const { rows } = await client.query(
    "select id, slug, hash, version from posthaste_private.migrations order by id",
  );
  if (rows.length === 0) return parseComment(found[0].comment ?? "");
  const functions = rows.find(({ id }) => id === 0);
  return {
    migrations: new Map(rows.filter(({ id }) => id !== 0).map(({ id, slug, hash }) => [id, { slug, hash }])),
    functionsHash: functions?.hash ?? null,
    version: rows.map(({ version }) => String(version)).reduce(newer),
    restoredRevision: null,
  };
}

/**
 * What the comment on schema posthaste tells, for a login that may not read the table: one that only enqueues. It does not
 * know the functions' hash. Null for a login that may read the table.
 */
export async function readHiddenRecord(client: pg.ClientBase): Promise<SchemaRecord | null> {
  const { rows } = await client.query(
    `select obj_description(to_regnamespace('posthaste'), 'pg_namespace') as comment
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'posthaste_private' and c.relname = 'migrations'
       and not (has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'))`,
  );
  return rows.length === 0 ? null : parseComment(rows[0].comment ?? "");
}

/** The comment on schema posthaste, which a schema-only dump carries. */
export function schemaComment(version: string, ids: readonly number[], revision: number): string {
  return `Posthaste ${version}. Migrations: ${ids.join(", ")}. Graphile Worker: ${revision}.`;
}

/** Positive when version `a` is newer than `b`. Pre-release parts do not count. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(/[.+-]/, 3).map(Number));
  for (let part = 0; part < 3; part++) {
    const difference = (left?.[part] ?? 0) - (right?.[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const EMPTY: SchemaRecord = {
  migrations: new Map(),
  functionsHash: null,
  version: null,
  restoredRevision: null,
};

function newer(a: string, b: string): string {
  return compareVersions(a, b) >= 0 ? a : b;
}

function parseComment(comment: string): SchemaRecord {
  const match = /^Posthaste (\S+)\. Migrations: ([\d, ]+)\. Graphile Worker: (\d+)\.$/.exec(comment);
  if (!match) return EMPTY;
  const [, version = "", ids = "", revision] = match;
  return {
    migrations: new Map(ids.split(", ").map((id) => [Number(id), { slug: "", hash: null }])),
    functionsHash: null,
    version,
    restoredRevision: Number(revision),
  };
}
