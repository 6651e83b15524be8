import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { parseGrant } from "../../src/database/grants.ts";
import { migrate } from "../../src/database/migrate.ts";
import { migrationSql } from "../../src/database/migration-sql.ts";
import { PosthasteError } from "../../src/errors.ts";
import { createTestDatabase, type TestDatabase } from "../database.ts";
import { sqlFolder } from "./sql-folder.ts";

const FUNCTION = `create or replace function posthaste.greet() returns text language sql stable as $$ select 'hello' $$;
revoke all on function posthaste.greet() from public;
`;
const GRANT = "--! roles\ngrant execute on function posthaste.greet() to posthaste_producer;\n--! end\n";
const FILES = {
  "migrations/000001-schema.sql": "create schema posthaste;\n",
  "migrations/000002-roles.sql": "--! roles\ngrant usage on schema posthaste to posthaste_producer;\n",
  "functions/greet.sql": FUNCTION + GRANT,
};

/** The catalogue of all that was installed, to compare two ways of installing. */
async function catalogue(database: TestDatabase): Promise<string> {
  const rows = await database.query(
    `select pg_describe_object(classid, objid, objsubid) as object from pg_depend
     where refclassid = 'pg_namespace'::regclass and refobjid::regnamespace::text ~ '^(posthaste|graphile_worker)'
     union all select oid::regprocedure::text || md5(prosrc || coalesce(proacl::text, '')) from pg_proc
     where pronamespace::regnamespace::text ~ '^(posthaste|graphile_worker)'
     union all select oid::regclass::text || coalesce(relacl::text, '') from pg_class
     where relnamespace::regnamespace::text ~ '^(posthaste|graphile_worker)'
     order by 1`,
  );
  return rows.map(({ object }) => object).join("\n");
}

test("a database without roles gets them later, by migrate with roles", async (t) => {
  const database = await createTestDatabase(t, { empty: true });
  const { connectionString } = database;
  const { path: sqlDirectory } = await sqlFolder(t, {
    ...FILES,
    "migrations/000002-roles.sql": `--! roles\ncreate role ${database.name}_r;\ndrop role ${database.name}_r;\n`,
    "functions/greet.sql": `${FUNCTION}--! roles\ncomment on schema posthaste_private is 'with roles';\n--! end\n`,
  });
  const note = "select obj_description('posthaste_private'::regnamespace) as text";
  const without = await migrate({ connectionString, sqlDirectory, roles: false });
  assert.deepEqual(without.migrations, [{ id: 1, slug: "schema" }]);
  assert.deepEqual(await database.query(note), [{ text: null }]);
  assert.equal((await migrate({ connectionString, sqlDirectory, roles: false })).functions, false);
  const later = await migrate({ connectionString, sqlDirectory });
  assert.deepEqual([later.migrations, later.functions], [[{ id: 2, slug: "roles" }], true]);
  assert.deepEqual(await database.query(note), [{ text: "with roles" }]);
});

test("the real schema installs without roles, and makes none of its policies and grants", async (t) => {
  const database = await createTestDatabase(t, { empty: true });
  await migrate({ connectionString: database.connectionString, roles: false });
  const [{ policies }] = await database.query(
    "select count(*)::int as policies from pg_policies where schemaname = 'posthaste'",
  );
  const [{ granted }] = await database.query(
    "select count(*)::int as granted from pg_shdepend d join pg_database b on b.oid = d.dbid join pg_roles r on r.oid = d.refobjid where b.datname = current_database() and r.rolname ~ '^posthaste_(producer|operator|viewer)$'",
  );
  assert.deepEqual({ policies, granted }, { policies: 0, granted: 0 });
});

test("databases of one server that are migrated at the same time share the roles", async (t) => {
  const databases = await Promise.all([1, 2, 3, 4].map(() => createTestDatabase(t, { empty: true })));
  const results = await Promise.all(databases.map(({ connectionString }) => migrate({ connectionString })));
  assert.ok(results.every(({ functions }) => functions));
});

test("a login gets its role once, whatever characters its name has", async (t) => {
  const database = await createTestDatabase(t);
  const { connectionString } = database;
  const login = `${database.name} "App" o'x`;
  const quoted = `"${login.replaceAll('"', '""')}"`;
  await database.query(`create role ${quoted}`);
  const grants = [parseGrant(`producer=${login}`)];
  assert.deepEqual((await migrate({ connectionString, grants })).grants, grants);
  assert.deepEqual((await migrate({ connectionString, grants })).grants, []);
  const [row] = await database.query("select pg_has_role($1, 'posthaste_producer', 'member') as member", [
    login,
  ]);
  assert.equal(row.member, true);
  await database.query(`drop role ${quoted}`);
});

test("a grant to a login that does not exist is refused by its name", async (t) => {
  const { connectionString } = await createTestDatabase(t);
  await assert.rejects(migrate({ connectionString, grants: [parseGrant("viewer=Nobody")] }), {
    name: "PosthasteError",
    message: /there is no role 'Nobody' in this server/,
  });
});

test("a grant that is not ROLE=LOGIN, and grants without roles, are wrong usage", async () => {
  for (const text of ["producer", "producer=", "=app", "owner=app", "Producer=app"]) {
    assert.throws(() => parseGrant(text), {
      name: "PosthasteError",
      exitCode: 2,
      message: new RegExp(`it was '${text}'`),
    });
  }
  assert.deepEqual(parseGrant("viewer=a=b"), { role: "viewer", login: "a=b" });
  const grants = [parseGrant("producer=app")];
  await assert.rejects(migrate({ connectionString: "", roles: false, grants }), { exitCode: 2 });
  await assert.rejects(migrationSql({ roles: false, grants }), { exitCode: 2 });
});

test("a login that may not make roles is told what it needs", async (t) => {
  const database = await createTestDatabase(t, { empty: true });
  const { name, connectionString } = await database.login();
  await database.query(`grant create on database ${database.name} to ${name}`);
  const { path: sqlDirectory } = await sqlFolder(t, {
    ...FILES,
    "migrations/000002-roles.sql": `--! roles\ncreate role ${name}_denied;\n`,
  });
  await assert.rejects(migrate({ connectionString, sqlDirectory }), (error: unknown) => {
    assert.ok(error instanceof PosthasteError);
    assert.match(error.message, /000002-roles\.sql failed.*permission denied.*CREATEROLE.*--no-roles/);
    return true;
  });
  const done = await migrate({ connectionString, sqlDirectory, roles: false });
  assert.deepEqual([done.migrations, done.functions], [[], true]);
});

for (const roles of [true, false]) {
  const how = roles ? "with roles" : "without roles";
  test(`the script of --sql ${how} makes the same as migrate, which then has nothing to do`, async (t) => {
    const migrated = await createTestDatabase(t, { empty: true });
    const { graphileWorker } = await migrate({ connectionString: migrated.connectionString, roles });
    const scripted = await createTestDatabase(t, { empty: true });
    const { name: login } = await scripted.login();
    const grants = roles ? [parseGrant(`producer=${login}`)] : [];
    const script = await migrationSql({ roles, grants });
    await runScript(scripted, script);

    assert.equal(await catalogue(scripted), await catalogue(migrated));
    const comment = "select obj_description('posthaste'::regnamespace) as comment";
    assert.deepEqual(await scripted.query(comment), await migrated.query(comment));
    const result = await migrate({ connectionString: scripted.connectionString, roles, grants });
    const { to } = graphileWorker;
    assert.deepEqual(
      { ...result, version: "" },
      { version: "", graphileWorker: { from: to, to }, migrations: [], functions: false, grants: [] },
    );
    await assert.rejects(scripted.query(script), /for a database without Graphile Worker and Posthaste/);
  });
}

test("a schema-only dump is taken over: migrate goes on from the version in the schema's comment", async (t) => {
  const database = await createTestDatabase(t);
  const { connectionString } = database;
  // What a restored schema-only dump is: all tables, no rows.
  await database.query(
    `do $$ declare v_tables text; begin
       select string_agg(format('%I.%I', schemaname, tablename), ', ') into v_tables from pg_tables
       where schemaname in ('posthaste', 'posthaste_private', 'graphile_worker');
       execute 'truncate ' || v_tables;
     end $$`,
  );
  const result = await migrate({ connectionString });
  assert.deepEqual([result.migrations, result.functions], [[], true]);
  assert.deepEqual((await migrate({ connectionString })).functions, false);
});

/** By psql where the machine has one, as people do; otherwise over a connection, as other migration tools do. */
async function runScript(database: TestDatabase, script: string): Promise<void> {
  const args = ["--no-psqlrc", "--quiet", "--single-transaction", "-v", "ON_ERROR_STOP=1", "-f", "-"];
  const psql = spawnSync("/usr/bin/psql", [...args, database.connectionString], {
    input: script,
    encoding: "utf8",
  });
  if (psql.error) await database.query(script);
  else assert.equal(psql.status, 0, psql.stderr);
}
