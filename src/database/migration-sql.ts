import pg from "pg";
import { PosthasteError } from "../errors.ts";
import { version as packageVersion } from "../package-root.ts";
import { type Grant, grantSql } from "./grants.ts";
import { graphileWorkerSql } from "./graphile-schema.ts";
import { RECORD_TABLE, schemaComment } from "./schema-record.ts";
import { readSqlFiles } from "./sql-files.ts";

/** What the script is to contain; the same meaning and defaults as for `migrate`. */
export interface MigrationSqlOptions {
  readonly roles?: boolean | undefined;
  readonly grants?: readonly Grant[] | undefined;
  readonly sqlDirectory?: string | undefined;
}

/**
 * One script that does on an empty database what `migrate` does, for psql and for other migration tools; `migrate` then
 * finds nothing to do. It holds no `begin` and no `commit`, because such tools wrap it in a transaction of their own.
 */
export async function migrationSql(options: MigrationSqlOptions = {}): Promise<string> {
  const { roles = true, grants = [] } = options;
  if (!roles && grants.length > 0) {
    throw new PosthasteError("Without roles there is nothing to grant: leave out --no-roles or --grant.", {
      exitCode: 2,
    });
  }
  const files = await readSqlFiles(options.sqlDirectory);
  const functions = files.functions(roles);
  const migrations = files.migrations.filter((migration) => roles || !migration.roles);
  const graphileWorker = await graphileWorkerSql();
  const comment = schemaComment(
    packageVersion,
    migrations.map(({ id }) => id),
    graphileWorker.revision,
  );
  return [
    header(roles),
    GUARD,
    graphileWorker.text,
    RECORD_TABLE,
    ...migrations.map(
      ({ id, slug, file, text, hash }) => `-- sql/migrations/${file}\n${recordSql(id, slug, hash)}\n${text}`,
    ),
    // Functions call each other, so none can come first.
    "set check_function_bodies = off;\n",
    ...functions.files.map(({ file, text }) => `-- sql/functions/${file}\n${text}`),
    "reset check_function_bodies;\n",
    recordSql(0, "functions", functions.hash),
    ...grants.map(grantSql),
    SCHEMA_COMMENT.replace("%comment%", () => pg.escapeLiteral(comment)),
  ].join("\n");
}

function recordSql(id: number, slug: string, hash: string): string {
  const values = [slug, hash, packageVersion].map((value) => pg.escapeLiteral(value)).join(", ");
  return `insert into posthaste_private.migrations (id, slug, hash, version) values (${id}, ${values});`;
}

function header(roles: boolean): string {
  return `-- Posthaste ${packageVersion}${roles ? "" : " without roles"}, with Graphile Worker's schema, for an empty database.
-- By hand: psql --single-transaction -v ON_ERROR_STOP=1 -f FILE. Later versions: \`posthaste migrate\`.
`;
}

const GUARD = `do $$ begin
  if current_setting('server_version_num')::int < 150000 then
    raise exception 'Posthaste needs PostgreSQL 15 or later';
  end if;
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception 'Posthaste needs a database with the encoding UTF8';
  end if;
  if to_regclass('graphile_worker.migrations') is not null or to_regclass('posthaste_private.migrations') is not null then
    raise exception 'this script is for a database without Graphile Worker and Posthaste: use posthaste migrate here';
  end if;
end $$;
`;

// A folder of SQL files need not make the schema posthaste, as in tests of the migrator.
const SCHEMA_COMMENT = `do $$ begin
  if to_regnamespace('posthaste') is not null then
    comment on schema posthaste is %comment%;
  end if;
end $$;
`;
