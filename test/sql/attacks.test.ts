import assert from "node:assert/strict";
import { suite, test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../database.ts";
import { enqueue, errorOf, insert, mail } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;
await pool.query("grant create on schema public to public");

/** A login that may enqueue, and that makes functions, types and operators of its own. */
async function attacker(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const login = await database.login({ memberOf: "posthaste_producer" });
  await pool.query(`grant create, temporary on database ${database.name} to ${login.name}`);
  const client = new pg.Client({ connectionString: login.connectionString });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
    await pool.query(`drop owned by ${login.name} cascade`);
  }
}

/** The body of a function that tells who runs it, in a table that anybody may write. */
const spy = (returns: string, value: string) =>
  `returns ${returns} language plpgsql as $$ begin insert into public.caught values (current_user); return ${value}; end $$`;

async function caughtOwner(): Promise<string[]> {
  const rows = await database.query("select distinct who from public.caught where who = current_user");
  return rows.map(({ who }) => who);
}

await pool.query("create table public.caught (who text); grant insert on public.caught to public");

suite("a hostile producer", () => {
  for (const schema of ["public", "pg_temp"]) {
    test(`runs nothing as Posthaste's owner by functions, operators and types in ${schema} that are named like ours`, async () => {
      await attacker(async (client) => {
        const functions: [string, string, string][] = [
          ["now()", "timestamptz", "'2000-01-01'"],
          ["clock_timestamp()", "timestamptz", "'2000-01-01'"],
          ["lower(text)", "text", "'x'"],
          ["btrim(text)", "text", "'x'"],
          ["left(text, int)", "text", "'x'"],
          ["length(text)", "int", "1"],
          ["format(text, text)", "text", "'x'"],
          ["isfinite(timestamptz)", "boolean", "true"],
          ["cardinality(text[])", "int", "1"],
          ["octet_length(text)", "int", "1"],
          ["sha256(bytea)", "bytea", "'x'"],
          ["gen_random_uuid()", "uuid", "'00000000-0000-0000-0000-000000000000'"],
          ["jsonb_typeof(jsonb)", "text", "'object'"],
          ["json_build_object(text, uuid)", "json", "'{}'"],
          ["current_setting(text, boolean)", "text", "'on'"],
        ];
        for (const [signature, returns, value] of functions) {
          await client.query(`create function ${schema}.${signature} ${spy(returns, value)}`);
        }
        for (const [name, type] of [
          ["=", "text"],
          ["<>", "jsonb"],
          ["||", "text"],
          ["~", "text"],
          ["!~", "text"],
          ["<=", "timestamptz"],
        ] as const) {
          const own = `${schema}.${type}_${Buffer.from(name).toString("hex")}`;
          const returns = name === "||" ? "text" : "boolean";
          await client.query(
            `create function ${own}(${type}, ${type}) ${spy(returns, name === "||" ? "'x'" : "true")}`,
          );
          await client.query(
            `create operator ${schema}.${name} (function = ${own}, leftarg = ${type}, rightarg = ${type})`,
          );
        }
        await client.query(`create type ${schema}.uuid as enum ('x')`);
        await client.query("create temporary table email_messages (id int)");
        await client.query("create temporary table settings (name text, value jsonb)");
        await client.query(`set search_path = ${schema}, pg_temp, public, pg_catalog`);
        const id = await enqueue(client, {
          cc: ["Bob <b@x.test>"],
          idempotency_key: schema,
          parameters: { a: 1 },
          headers: { "X-A": "1" },
          expires_at: new Date(Date.now() + 60_000),
        });
        await insert(client, { idempotency_key: `${schema}-2` });
        await client.query("select from posthaste.email_status('x')");
        assert.equal((await mail(pool, id)).status, "PENDING");
      });
      assert.deepEqual(await caughtOwner(), []);
    });
  }

  test("runs nothing as Posthaste's owner by a cast of a column's type in the table of a trigger", async () => {
    await attacker(async (client) => {
      await client.query(`create type public.evil as enum ('x')`);
      await client.query(`create function public.evil_json(public.evil) ${spy("json", `'"x"'`)}`);
      await client.query("create cast (public.evil as json) with function public.evil_json(public.evil)");
      await client.query("create type public.wrapped as (inside public.evil[])");
      await client.query("create domain public.renamed as public.evil");
      for (const type of ["evil", "evil[]", "wrapped", "renamed", "wrapped[]"]) {
        await client.query(`create table public.bait (email text, e public.${type})`);
        await client.query(
          "create trigger mail after insert on public.bait for each row execute function posthaste.enqueue_row('template=a', 'recipient=email')",
        );
        const value = type.startsWith("wrapped")
          ? "row(array['x'::public.evil])::public.wrapped"
          : "'x'::public.evil";
        await client.query(
          `insert into public.bait values ('a@x.test', ${type.endsWith("[]") ? `array[${value}]` : value})`,
        );
        await client.query("drop table public.bait");
      }
    });
    assert.deepEqual(await caughtOwner(), []);
  });

  test("cannot change its rights from inside, nor read what is private", async () => {
    await attacker(async (client) => {
      for (const statement of [
        "select * from posthaste_private.settings",
        "select * from posthaste_private.idempotency_keys",
        "select posthaste_private.claim('{}', 'w', '1 s', 'production', 'x.test')",
        "select posthaste.configure('strict', 'true')",
        "select posthaste.pause('default', 'x')",
        "select * from graphile_worker._private_jobs",
        "select graphile_worker.add_job('x')",
        "update posthaste.email_messages set status = 'SENT'",
        "delete from posthaste.email_messages",
        "truncate posthaste.email_messages",
        "alter table posthaste.email_messages disable trigger all",
        "create table posthaste.mine (id int)",
        "create function posthaste.mine() returns int language sql as 'select 1'",
      ]) {
        assert.equal((await errorOf(client.query(statement))).code, "42501", statement);
      }
    });
  });
});
