import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Logger, runMigrations } from "graphile-worker";
import type pg from "pg";
import { PosthasteError } from "../errors.ts";
import { createPool } from "./pool.ts";

/** Number of Graphile Worker's newest migration in this database, null without its schema. */
export async function graphileRevision(client: pg.ClientBase): Promise<number | null> {
  const { rows: found } = await client.query(
    "select to_regclass('graphile_worker.migrations') is not null as installed",
  );
  if (!found[0]?.installed) return null;
  const { rows } = await client.query("select max(id) as revision from graphile_worker.migrations");
  return rows[0]?.revision ?? null;
}

/** Brings Graphile Worker's schema up to date by its own migrations. A lock that is not to be had in time: SQLSTATE 55P03. */
export async function migrateGraphileWorker(connectionString: string, lockTimeout: number): Promise<void> {
  const pgPool = createPool({ connectionString, applicationName: "posthaste migrate", max: 2, lockTimeout });
  const exitCode = process.exitCode;
  try {
    await runMigrations({ pgPool, logger: new Logger(() => () => undefined) });
  } catch (error) {
    if (process.exitCode !== 57 || exitCode === 57) throw error;
    // It sets the exit code of the whole process; that is for the command line to decide.
    process.exitCode = exitCode;
    throw new PosthasteError(
      `Graphile Worker's schema in the database is newer than this program: ${(error as Error).message}`,
      { exitCode: 57, cause: error },
    );
  } finally {
    await pgPool.end();
  }
}

/**
 * Graphile Worker's whole schema as one script, from the SQL files that its package ships, with its table of migrations
 * filled, so that its own migrator finds nothing left to do.
 */
export async function graphileWorkerSql(): Promise<{ text: string; revision: number }> {
  const migrations = await packedMigrations();
  const texts = migrations.map(
    ({ id, breaking, text }) =>
      `-- Graphile Worker, migration ${id}\n` +
      `insert into graphile_worker.migrations (id, breaking) values (${id}, ${breaking});\n${text}`,
  );
  return { text: [BOOTSTRAP, ...texts].join("\n"), revision: migrations.at(-1)?.id ?? 0 };
}

/** Notes migrations as done whose effect is there: a schema-only dump was restored, which has no rows. */
export async function adoptGraphileWorker(client: pg.ClientBase, revision: number): Promise<void> {
  const known = (await packedMigrations()).filter(({ id }) => id <= revision);
  await client.query(
    `insert into graphile_worker.migrations (id, breaking)
     select * from unnest($1::int[], $2::boolean[]) on conflict do nothing`,
    [known.map(({ id }) => id), known.map(({ breaking }) => breaking)],
  );
}

async function packedMigrations(): Promise<{ id: number; breaking: boolean; text: string }[]> {
  // The schema's name is quoted as its migrator quotes it: so the functions come out the same to the letter.
  const folder = join(dirname(fileURLToPath(import.meta.resolve("graphile-worker"))), "..", "sql");
  const files = (await readdir(folder)).filter((file) => /^\d{6}\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), "utf8");
      return {
        id: Number(file.slice(0, 6)),
        breaking: text.startsWith("--! breaking"),
        text: text.replaceAll(/:GRAPHILE_WORKER_SCHEMA\b/g, '"graphile_worker"'),
      };
    }),
  );
}

// As Graphile Worker's installSchema makes it.
const BOOTSTRAP = `create schema if not exists graphile_worker;
create table if not exists graphile_worker.migrations (
  id int primary key,
  ts timestamptz default now() not null
);
alter table graphile_worker.migrations add column if not exists breaking boolean not null default false;
`;
