import type { Command } from "commander";
import type { MigrateResult } from "../database/migrate.ts";
import { PosthasteError } from "../errors.ts";
import { answer, configurationOf } from "./context.ts";

interface Options {
  readonly sql?: boolean;
  readonly roles: boolean;
  readonly grant: readonly string[];
  readonly json?: boolean;
}

/** Registers `posthaste migrate`: installs or updates Graphile Worker's schema and Posthaste's. */
export function registerMigrate(program: Command): void {
  program
    .command("migrate")
    .description("Installs or updates Graphile Worker's schema and Posthaste's. Safe to run at any time.")
    .option("--sql", "print the SQL for another migration tool, and change nothing")
    .option("--no-roles", "leave out Posthaste's roles and their grants, where somebody else manages roles")
    .option(
      "--grant <role=login>",
      "give a login of your application a role: producer, operator or viewer; repeatable",
      (grant: string, grants: readonly string[]) => [...grants, grant],
      [],
    )
    .option("--json", "print one JSON document")
    .action(async (options: Options, command: Command) => {
      if (options.sql && options.json) {
        throw new PosthasteError("--sql prints SQL, not JSON: leave out one of --sql and --json.", {
          exitCode: 2,
        });
      }
      const { parseGrant } = await import("../database/grants.ts");
      const grants = options.grant.map(parseGrant);
      if (options.sql) {
        const { migrationSql } = await import("../database/migration-sql.ts");
        process.stdout.write(await migrationSql({ roles: options.roles, grants }));
        return;
      }
      const { databaseUrl, databaseUrlName } = await configurationOf(command, { sends: false });
      const { requireDatabaseUrl } = await import("../database/database-url.ts");
      const { migrate } = await import("../database/migrate.ts");
      const connectionString = requireDatabaseUrl(databaseUrl, databaseUrlName);
      const result = await migrate({ connectionString, roles: options.roles, grants }).catch(
        async (error) => {
          const { explained } = await import("./with-ledger.ts");
          throw await explained(error, connectionString, command.name());
        },
      );
      answer(options.json, result, describe(result));
    });
}

function describe({ version, graphileWorker, migrations, functions, grants }: MigrateResult): string {
  const { from, to } = graphileWorker;
  const done = [
    from === to
      ? null
      : `Graphile Worker's schema ${from === null ? `installed (${to})` : `updated (${from} to ${to})`}`,
    ...migrations.map(({ id, slug }) => `applied ${String(id).padStart(6, "0")}-${slug}`),
    functions ? "applied the functions" : null,
    ...grants.map(({ role, login }) => `granted ${role} to ${login}`),
  ].filter((step) => step !== null);
  if (done.length === 0) return `The schema is that of Posthaste ${version} already.`;
  return `The schema is that of Posthaste ${version} now:\n${done.map((step) => `  ${step}`).join("\n")}`;
}
