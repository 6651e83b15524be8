import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { attemptsOf, claim, enqueue, mail, record } from "./mails.ts";
import { liveWorker, maintain } from "./workers.ts";

const database = await createTestDatabase();
const { pool } = database;

const KNOWS = { templates: [{ name: "transfer", version: "1", on_unknown_outcome: "fail" }] };

suite("what a gone worker knew of a template", () => {
  test("still decides about the mail that it had handed over", async () => {
    const died = await liveWorker(database, "w1", KNOWS);
    const other = await liveWorker(database, "w2");
    const id = await enqueue(pool, { template: "transfer" });
    const [row] = await claim(pool, [id], "w1");
    await pool.query(
      "select posthaste_private.extend_leases(array[$1::uuid], array[$2::uuid], '60 s', true)",
      [id, row?.lease_token],
    );
    await died.die();
    await maintain(database);
    assert.equal((await mail(pool, id)).status, "SENDING", "its lease still runs");
    await pool.query("update posthaste.email_messages set locked_until = now() where id = $1", [id]);
    await maintain(database);
    const { status, error_code } = await mail(pool, id);
    assert.deepEqual([status, error_code], ["FAILED", "outcome_unknown"]);
    await other.die();
  });

  test("is forgotten once another worker lives and no mail needs it", async () => {
    const worker = await liveWorker(database, "w3");
    await maintain(database);
    assert.deepEqual(await database.query("select name from posthaste_private.templates"), []);
    await worker.die();
  });
});

test("late news that ends somebody else's attempt leaves a row for that attempt too", async () => {
  const id = await enqueue(pool);
  const [first] = await claim(pool, [id], "w1");
  await pool.query(
    "update posthaste.email_messages set status = 'PENDING', lease_token = null, locked_until = null where id = $1",
    [id],
  );
  await claim(pool, [id], "w2");
  await record(pool, { id, token: first?.lease_token ?? "" }, { kind: "sent", accepted: [1] });
  assert.deepEqual(
    (await attemptsOf(pool, id)).map(({ worker, outcome, error_code }) => [worker, outcome, error_code]),
    [["w2", "released", null]],
  );
});
