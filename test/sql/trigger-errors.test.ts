import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { errorOf } from "./mails.ts";
import { basics, shopTable } from "./shop-table.ts";

const database = await createTestDatabase();
const { pool } = database;

suite("a trigger with enqueue_row", () => {
  const wrong: [string, string[], string?][] = [
    ["an argument without =", ["template=a", "recipient=email", "key"]],
    ["an argument without a value", ["template=a", "recipient=email", "key="]],
    ["an unknown argument", ["template=a", "recipient=email", "subject=note"]],
    ["an argument in capitals", ["Template=a", "recipient=email"]],
    ["no recipient", ["template=a"]],
    ["no argument at all", []],
    ["a column that is not there", ["template=a", "recipient=mail"]],
    ["a parameter that is not there", ["template=a", "recipient=email", "parameters=number,nothing"]],
    ["a pattern with a column that is not there", ["template=a", "recipient=email", "key={nothing}"]],
    ["a priority that is no number", ["template=a", "recipient=email", "priority=high"]],
    ["attempts that are no number", ["template=a", "recipient=email", "max_attempts=1.5"]],
    ["a trigger before the row is written", ["template=a", "recipient=email"], "before insert"],
    ["a trigger after delete", ["template=a", "recipient=email"], "after insert or delete"],
  ];
  for (const [what, args, when] of wrong) {
    test(`refuses ${what}: PH031`, async () => {
      const orders = await shopTable(database, args, when ? { when } : {});
      const write = orders
        .add({ id: 1, email: "a@x.test" })
        .then(() => pool.query(`delete from public.${orders.table}`));
      const error = await errorOf(write);
      assert.deepEqual([error.code, error.column], ["PH031", "trigger"], error.message);
    });
  }

  test("refuses to be a trigger for a statement", async () => {
    await pool.query("create table public.per_statement (email text)");
    await pool.query(
      "create trigger mail after insert on public.per_statement execute function posthaste.enqueue_row('template=a', 'recipient=email')",
    );
    assert.equal(
      (await errorOf(pool.query("insert into public.per_statement values ('a@x.test')"))).code,
      "PH031",
    );
  });

  test("raises for a malformed request like enqueue, naming the field", async () => {
    const orders = await shopTable(database, basics("expires_at=at"));
    const error = await errorOf(orders.add({ email: "a@x.test", at: "2020-01-01" }));
    assert.deepEqual([error.code, error.column], ["PH008", "expires_at"]);
  });
});
