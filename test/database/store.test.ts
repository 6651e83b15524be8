import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createPool } from "../../src/database/pool.ts";
import { packageRoot } from "../../src/package-root.ts";
import { storeOf } from "../bench/sql-steps.ts";
import { createTestDatabase } from "../database.ts";

test("a column and functions that a migration brings under a running worker stop none of its claims, whatever its connections have planned", async (t) => {
  const database = await createTestDatabase(t);
  const pool = createPool({
    connectionString: database.connectionString,
    applicationName: "worker",
    max: 6,
  });
  const store = storeOf(pool);
  const enqueue = async () => {
    const [{ id }] = await database.query("select posthaste.enqueue('plain', 'ada@customer.example') as id");
    return id as string;
  };
  try {
    const ids = await Promise.all(Array.from({ length: 6 }, enqueue));
    await Promise.all(ids.map((id) => store.claim([id], null)));
    assert.equal(pool.totalCount, 6, "each has made a plan");
    await database.query(
      "alter table posthaste.email_messages add column campaign text not null default 'x'",
    );
    // The functions come in a transaction of their own, so a claim may find the new table and the old function.
    const between = await enqueue();
    assert.equal((await store.claim([between], null))[0]?.id, between);
    const more = await Promise.all(Array.from({ length: 6 }, enqueue));
    await Promise.all(more.map((id) => store.claim([id], null)));
    await database.query(await readFile(join(packageRoot, "sql/functions/claim.sql"), "utf8"));
    const [email] = await store.claim([await enqueue()], null);
    assert.equal((email as unknown as { campaign: string }).campaign, "x");
  } finally {
    await pool.end();
  }
});
