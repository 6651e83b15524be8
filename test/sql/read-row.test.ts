import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createTestDatabase } from "../database.ts";

const database = await createTestDatabase();
const { pool } = database;

const read = "posthaste_private.read_row(format('%s', r), 'public.readings'::regclass)";

test("a row read from its text is what to_jsonb makes of it, for types of PostgreSQL's own", async () => {
  await pool.query(`create table public.readings (a text, gone int, n int, d numeric, f float8, yes boolean, j jsonb, at timestamptz,
    plain timestamp, day date, id uuid, words text[], b bytea, span interval, z varchar(20))`);
  await pool.query("alter table public.readings drop column gone");
  const text = fc.oneof(
    fc.constantFrom("", " ", '"', "\\", ",", "(", ")", "NULL", "{}", '""', "\\\\", "a,b", "\n", '{"a"}'),
    fc.string({
      unit: fc.constantFrom('"', "\\", ",", "(", ")", "a", "ä", " ", "{", "}", "\n"),
      maxLength: 12,
    }),
  );
  const row = fc.record({
    a: fc.option(text),
    n: fc.option(fc.integer({ min: -2_147_483_648, max: 2_147_483_647 })),
    d: fc.option(fc.constantFrom("12.50", "-0.001", "1e30", "NaN", "Infinity")),
    f: fc.option(fc.constantFrom("1.5", "1e-20", "-0", "NaN", "-Infinity")),
    yes: fc.option(fc.boolean()),
    j: fc.option(fc.record({ k: text, list: fc.array(fc.integer(), { maxLength: 2 }) })),
    at: fc.option(fc.constantFrom("2026-01-31T12:00:00.123456Z", "infinity")),
    plain: fc.option(fc.constantFrom("2026-01-31T12:00:00", "0044-03-15 BC")),
    day: fc.option(fc.constantFrom("2026-01-31", "infinity")),
    id: fc.option(fc.uuid()),
    words: fc.option(fc.array(fc.option(text), { maxLength: 3 })),
    b: fc.option(fc.constantFrom("\\xdeadbeef")),
    span: fc.option(fc.constantFrom("1 day 02:00:00")),
    z: fc.option(text),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 50, maxLength: 50 }), async (rows) => {
      const different = await database.query(
        `select to_jsonb(r) as expected, ${read} as actual from json_populate_recordset(null::public.readings, $1) r
         where to_jsonb(r) is distinct from ${read}`,
        [JSON.stringify(rows)],
      );
      assert.deepEqual(different, []);
    }),
    { numRuns: 20 },
  );
});

test("a row with types of one's own is read by what they are made of", async () => {
  await pool.query(`create type public.state as enum ('new', 'in transit'); create domain public.email as text;
    create domain public.amount as numeric; create domain public.large as public.amount; create type public.pair as (x int, y text)`);
  await pool.query(
    "create table public.typed (s public.state, ss public.state[], e public.email, n public.large, p public.pair, none public.state)",
  );
  const [{ row }] = await database.query(
    `select posthaste_private.read_row(format('%s', row('in transit'::public.state, '{new,"in transit"}'::public.state[], 'a@x.test'::public.email,
       12.5::public.large, '(1,"a b")'::public.pair, null::public.state)::public.typed), 'public.typed'::regclass) as row`,
  );
  assert.deepEqual(row, {
    s: "in transit",
    ss: ["new", "in transit"],
    e: "a@x.test",
    n: 12.5,
    p: '(1,"a b")',
    none: null,
  });
});

test("a trigger of such a table enqueues", async () => {
  await pool.query(
    "create trigger mail after insert on public.typed for each row execute function posthaste.enqueue_row('template=typed', 'recipient=e', 'parameters=s,n')",
  );
  await pool.query("insert into public.typed (s, e, n) values ('new', 'a@x.test', 3)");
  const [row] = await database.query(
    "select recipients, parameters from posthaste.email_messages where template = 'typed'",
  );
  assert.deepEqual(row, { recipients: ["a@x.test"], parameters: { s: "new", n: 3 } });
});
