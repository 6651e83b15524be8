import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";

const database = await createTestDatabase();

const OURS = "('posthaste', 'posthaste_private')";

/** The names that a query finds. */
async function names(query: string): Promise<string[]> {
  return (await database.query(query)).map((row) => String(Object.values(row)[0]));
}

suite("every function", () => {
  test("with the rights of its owner pins its search_path, pg_temp last", async () => {
    const definers = await database.query(
      `select f.oid::regprocedure::text as name, f.proconfig as settings from pg_proc f
       where f.prosecdef and f.pronamespace::regnamespace::text in ${OURS}`,
    );
    assert.ok(definers.length >= 15);
    for (const { name, settings } of definers) {
      const paths = (settings ?? []).filter((setting: string) => setting.startsWith("search_path="));
      assert.deepEqual(paths, ["search_path=pg_catalog, pg_temp"], name);
    }
  });

  test("that pins none is called only by those that do", async () => {
    // What a role may call itself would otherwise run along the path of whoever calls it.
    const callable = await names(
      `select f.oid::regprocedure from pg_proc f, unnest(array['posthaste_producer', 'posthaste_operator', 'posthaste_viewer']) r(name)
       where f.pronamespace::regnamespace::text in ${OURS} and has_function_privilege(r.name, f.oid, 'execute')
         and not coalesce(f.proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'`,
    );
    assert.deepEqual(callable, []);
  });

  test("that forbids to read whole tables forbids to compile plans as well: the price of the one brings about the other", async () => {
    const compiled = await names(
      `select f.oid::regprocedure from pg_proc f
       where f.pronamespace::regnamespace::text in ${OURS} and f.proconfig @> '{enable_seqscan=off}' and not f.proconfig @> '{jit=off}'`,
    );
    assert.deepEqual(compiled, []);
  });

  test("is for nobody but whom it is granted to", async () => {
    const open = await names(
      `select f.oid::regprocedure from pg_proc f
       where f.pronamespace::regnamespace::text in ${OURS}
         and exists (select from aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) a where a.grantee = 0)`,
    );
    assert.deepEqual(open, []);
  });

  test("of the public schema has one signature, so that named arguments never become ambiguous", async () => {
    assert.deepEqual(
      await names(
        "select f.proname from pg_proc f where f.pronamespace = 'posthaste'::regnamespace group by 1 having count(*) > 1",
      ),
      [],
    );
  });

  test("is dynamic SQL only where a query is put together from constant parts", async () => {
    const dynamic = await names(
      `select f.proname from pg_proc f join pg_language l on l.oid = f.prolang
       where f.pronamespace::regnamespace::text in ${OURS} and l.lanname = 'plpgsql' and f.prosrc ~ '\\mexecute\\M(?! function)' order by 1`,
    );
    assert.deepEqual(dynamic, ["email_counts", "email_page"]);
    assert.deepEqual(
      await names(
        `select f.proname from pg_proc f where f.proname in ('email_counts', 'email_page') and f.prosecdef`,
      ),
      [],
      "and none with the rights of the owner",
    );
  });
});

test("everything has a comment", async () => {
  const silent = await names(
    `with ours as (select oid from pg_namespace where nspname in ${OURS})
     select 'schema ' || n.nspname from pg_namespace n where n.nspname in ${OURS} and obj_description(n.oid, 'pg_namespace') is null
     union all
     select 'relation ' || c.oid::regclass from pg_class c
     where c.relnamespace in (select oid from ours) and c.relkind in ('r', 'v', 'm', 'S', 'i') and obj_description(c.oid, 'pg_class') is null
       and not exists (select from pg_constraint k where k.conindid = c.oid)
     union all
     select 'column ' || c.oid::regclass || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace in (select oid from ours) and c.relkind in ('r', 'v', 'm') and a.attnum > 0 and not a.attisdropped
       and col_description(c.oid, a.attnum) is null
     union all
     select 'function ' || f.oid::regprocedure from pg_proc f
     where f.pronamespace in (select oid from ours) and obj_description(f.oid, 'pg_proc') is null
     union all
     select 'policy ' || p.polname || ' on ' || p.polrelid::regclass from pg_policy p join pg_class c on c.oid = p.polrelid
     where c.relnamespace in (select oid from ours) and obj_description(p.oid, 'pg_policy') is null
     union all
     select 'trigger ' || t.tgname || ' on ' || t.tgrelid::regclass from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace in (select oid from ours) and not t.tgisinternal and obj_description(t.oid, 'pg_trigger') is null
     order by 1`,
  );
  assert.deepEqual(silent, []);
});

suite("row-level security", () => {
  test("is enabled and not forced on every table that a role may touch", async () => {
    const touched = await database.query(
      `select c.oid::regclass::text as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced from pg_class c
       where c.relkind = 'r' and c.relnamespace::regnamespace::text in ${OURS}
         and exists (select from unnest(array['posthaste_producer', 'posthaste_operator', 'posthaste_viewer']) r(name)
           where has_any_column_privilege(r.name, c.oid, 'select, insert, update')) order by 1`,
    );
    const open = touched.filter(({ enabled }) => !enabled).map(({ name }) => name);
    // Addresses without content, for operators, who read all mail; and the list of migrations.
    assert.deepEqual(open, ["posthaste_private.migrations", "posthaste_private.recipient_index"]);
    assert.deepEqual(
      touched.filter(({ forced }) => forced),
      [],
    );
    for (const name of [
      "posthaste.email_messages",
      "posthaste.email_attempts",
      "posthaste.operator_actions",
    ]) {
      assert.ok(
        touched.some((table) => table.name === name && table.enabled),
        name,
      );
    }
  });

  test("of our functions is never in the way: one owner has both schemas and all that is in them", async () => {
    const owners = await names(
      `select distinct owner from (
         select nspowner as owner from pg_namespace where nspname in ${OURS}
         union select relowner from pg_class where relnamespace::regnamespace::text in ${OURS}
         union select proowner from pg_proc where pronamespace::regnamespace::text in ${OURS}
         union select nspowner from pg_namespace where nspname = 'graphile_worker') o`,
    );
    assert.equal(owners.length, 1);
  });
});

test("no lease column is in an index, so that renewing a lease is a HOT update", async () => {
  const indexed = await names(
    `select distinct a.attname from pg_index i
     join pg_attribute a on a.attrelid = i.indrelid and (a.attnum = any (i.indkey)
       or coalesce(pg_get_expr(i.indpred, i.indrelid), '') || coalesce(pg_get_expr(i.indexprs, i.indrelid), '') ~ ('\\m' || a.attname || '\\M'))
     where i.indrelid = 'posthaste.email_messages'::regclass and a.attnum > 0`,
  );
  for (const column of ["locked_at", "locked_until", "locked_by", "lease_token", "handed_over_at"]) {
    assert.ok(!indexed.includes(column), column);
  }
  assert.ok(indexed.includes("status"));
});

test("the row of src/database/rows.ts has the columns of the table, in their order", async () => {
  const source = readFileSync(join(import.meta.dirname, "../../src/database/rows.ts"), "utf8");
  const body = /export interface EmailRow \{\n([^}]*)\n\}/.exec(source)?.[1] ?? "";
  const fields = [...body.matchAll(/^ {2}readonly (\w+): /gm)].map((match) => match[1]);
  assert.deepEqual(
    fields,
    await names(
      "select attname from pg_attribute where attrelid = 'posthaste.email_messages'::regclass and attnum > 0 and not attisdropped order by attnum",
    ),
  );
  const optional = [...body.matchAll(/^ {2}readonly (\w+): .*\| null;/gm)].map((match) => match[1]).sort();
  const nullable = await names(
    "select attname from pg_attribute where attrelid = 'posthaste.email_messages'::regclass and attnum > 0 and not attisdropped and not attnotnull order by attname collate \"C\"",
  );
  assert.deepEqual(optional, nullable, "and those may be null that may be null");
});
