import type pg from "pg";
import { PosthasteError } from "../errors.ts";
import { version as packageVersion } from "../package-root.ts";
import { isNewer, newerError } from "./check-schema.ts";
import { checkServer } from "./check-server.ts";
import { applyGrants, type Grant } from "./grants.ts";
import { adoptGraphileWorker, graphileRevision, migrateGraphileWorker } from "./graphile-schema.ts";
import { inTransaction, runFile, withLockRetries } from "./migration-step.ts";
import { connect } from "./pool.ts";
import { RECORD_TABLE, readRecord, type SchemaRecord, schemaComment } from "./schema-record.ts";
import { type Functions, type Migration, readSqlFiles, type SqlFiles } from "./sql-files.ts";

/** What `migrate` is to do. */
export interface MigrateOptions {
  /** A login that owns both schemas, or may create them. Directly, not through a pooler: it holds a session lock. */
  readonly connectionString: string;
  /** Make Posthaste's roles, their grants and policies. Default true; false where somebody else manages roles. */
  readonly roles?: boolean | undefined;
  /** Logins of the application that get a role. Default none; not together with `roles: false`. */
  readonly grants?: readonly Grant[] | undefined;
  /** Folder with `migrations` and `functions`. Default: this package's. */
  readonly sqlDirectory?: string | undefined;
  /** Milliseconds that a statement waits for a lock; everybody else queues behind it for as long. Default 500. */
  readonly lockTimeout?: number | undefined;
  /** How often a file is tried that does not get its locks. Default 40. */
  readonly lockAttempts?: number | undefined;
}

/** What `migrate` did. */
export interface MigrateResult {
  readonly version: string;
  readonly graphileWorker: { readonly from: number | null; readonly to: number };
  /** Newly applied, in order. */
  readonly migrations: readonly { readonly id: number; readonly slug: string }[];
  /** Whether the functions had changed and were applied again. */
  readonly functions: boolean;
  /** Newly given. */
  readonly grants: readonly Grant[];
}

/**
 * Installs or updates Graphile Worker's schema and Posthaste's. Safe to run by many at once and at any time: one works, the
 * others wait for it and then find nothing to do. Each file is a transaction of its own, so what was interrupted goes on
 * where it stopped. Throws a PosthasteError that names the file, with exitCode 57 when the database is newer.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const { roles = true, grants = [], lockTimeout = 500, lockAttempts = 40 } = options;
  if (!roles && grants.length > 0) {
    throw new PosthasteError("Without roles there is nothing to grant: leave out --no-roles or --grant.", {
      exitCode: 2,
    });
  }
  const { connectionString } = options;
  const patience = { lockTimeout, lockAttempts };
  const files = await readSqlFiles(options.sqlDirectory);
  const functions = files.functions(roles);
  const client = await connect({ connectionString, applicationName: "posthaste migrate" });
  const step: Step = (what, work) => inTransaction(client, what, patience, () => work(client));
  try {
    await checkServer(client);
    await lockOutOthers(client);
    const record = await readRecord(client);
    checkRecord(record, files);
    if (record.restoredRevision !== null) await adoptDump(step, record, files);

    const from = await graphileRevision(client);
    await withLockRetries("Graphile Worker's migration", patience, () =>
      migrateGraphileWorker(connectionString, lockTimeout),
    );
    const to = (await graphileRevision(client)) ?? 0;

    const migrations = await applyMigrations(step, record, files, roles);
    const functionsChanged = record.functionsHash !== functions.hash;
    if (functionsChanged) await applyFunctions(step, functions);
    const given = await step("The grant of roles", () => applyGrants(client, grants));
    if (migrations.length > 0 || functionsChanged || from !== to) {
      await step("The comment on schema posthaste", () => commentOnSchema(client, to));
    }
    return {
      version: packageVersion,
      graphileWorker: { from, to },
      migrations,
      functions: functionsChanged,
      grants: given,
    };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Runs `work` in a transaction of its own; `what` names it in an error. */
type Step = <T>(what: string, work: (client: pg.ClientBase) => Promise<T>) => Promise<T>;

async function lockOutOthers(client: pg.ClientBase): Promise<void> {
  // A limit that is set on the login or the database is meant for the application's statements, not for these.
  await client.query(
    "set statement_timeout = 0; set client_min_messages = warning; set lock_timeout = '10min'",
  );
  try {
    await client.query("select pg_advisory_lock(hashtextextended('posthaste migrate', 0))");
  } catch (cause) {
    throw new PosthasteError(
      "Another `posthaste migrate` has held its lock for 10 minutes: look for its application_name in pg_stat_activity.",
      { cause },
    );
  }
  await client.query("reset lock_timeout");
}

function checkRecord(record: SchemaRecord, files: SqlFiles): void {
  if (record.version !== null && isNewer(record, files)) throw newerError(record.version);
  for (const { id, file, hash } of files.migrations) {
    const recorded = record.migrations.get(id)?.hash;
    if (recorded && recorded !== hash) {
      throw new PosthasteError(
        `An applied migration does not change, and ${file} is not the file that this database was made with. ` +
          "Restore the file, and put the change into a new migration.",
      );
    }
  }
}

/** The schema came out of a schema-only dump: its tables are there, their rows are not. */
async function adoptDump(step: Step, record: SchemaRecord, files: SqlFiles): Promise<void> {
  await step("The record of a restored dump", async (client) => {
    await adoptGraphileWorker(client, record.restoredRevision ?? 0);
    for (const migration of files.migrations) {
      if (record.migrations.has(migration.id)) await recordMigration(client, migration);
    }
  });
}

async function applyMigrations(step: Step, record: SchemaRecord, files: SqlFiles, roles: boolean) {
  if (record.version === null) {
    await step("The table of migrations", (client) =>
      runFile(client, "The table of migrations", RECORD_TABLE),
    );
  }
  const applied: { id: number; slug: string }[] = [];
  for (const migration of files.migrations) {
    if (record.migrations.has(migration.id) || (migration.roles && !roles)) continue;
    const file = `sql/migrations/${migration.file}`;
    const done = await step(file, async (client) => {
      // Its own row first: whoever else is at it, e.g. the script of --sql, is waited for here, and has then done it.
      if (!(await recordMigration(client, migration))) return false;
      await runFile(client, file, migration.text);
      return true;
    });
    if (done) applied.push({ id: migration.id, slug: migration.slug });
  }
  return applied;
}

async function recordMigration(client: pg.ClientBase, { id, slug, hash }: Migration): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into posthaste_private.migrations (id, slug, hash, version) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [id, slug, hash, packageVersion],
  );
  return rowCount === 1;
}

async function applyFunctions(step: Step, { files, hash }: Functions): Promise<void> {
  await step("sql/functions", async (client) => {
    // They call each other, so none can come first.
    await client.query("set local check_function_bodies = off");
    for (const { file, text } of files) await runFile(client, `sql/functions/${file}`, text);
    await client.query(
      `insert into posthaste_private.migrations (id, slug, hash, version) values (0, 'functions', $1, $2)
       on conflict (id) do update set hash = excluded.hash, version = excluded.version, applied_at = now()`,
      [hash, packageVersion],
    );
  });
}

async function commentOnSchema(client: pg.ClientBase, revision: number): Promise<void> {
  const { rows } = await client.query(
    `select array(select id from posthaste_private.migrations where id <> 0 order by id) as ids,
       to_regnamespace('posthaste') is not null as exists`,
  );
  if (!rows[0]?.exists) return;
  const comment = client.escapeLiteral(schemaComment(packageVersion, rows[0].ids, revision));
  await client.query(`comment on schema posthaste is ${comment}`);
}
