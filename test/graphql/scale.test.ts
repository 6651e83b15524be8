import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { fill, LISTS, type Measured, measure } from "./scale.ts";

// The short form: whether each list comes off an index. `node --conditions=posthaste-source test/graphql/scale.ts` takes the
// time with a million mails.
const database = await createTestDatabase();
let measured: readonly Measured[] = [];

before(async () => {
  const client = await database.pool.connect();
  try {
    await fill(client, 50_000);
    measured = await measure(client);
  } finally {
    // It has become another role.
    client.release(true);
  }
});

for (const name of Object.keys(LISTS)) {
  test(`no page of a list reads the whole table: ${name}`, () => {
    const pages = measured.filter((one) => one.name.startsWith(`${name}, `));
    assert.ok(pages.length > 0);
    for (const { plan, rows, name: page } of pages) {
      assert.match(plan, /Index/, page);
      assert.doesNotMatch(plan, /Seq Scan/, page);
      assert.ok(rows > 0 || !page.endsWith("first page"), `${page} has rows`);
    }
  });
}
