import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { claim, claimed, enqueue, mail, transaction } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

async function extend(lease: { id: string; token: string | null }, handOver: boolean): Promise<string[]> {
  const { rows } = await pool.query(
    "select posthaste_private.extend_leases(array[$1::uuid], array[$2::uuid], '120 seconds', $3) as id",
    [lease.id, lease.token, handOver],
  );
  return rows.map(({ id }) => id);
}

suite("a claim", () => {
  test("makes a waiting mail SENDING with a lease, an attempt and a Message-ID", async () => {
    const id = await enqueue(pool);
    const [row] = await claim(pool, [id]);
    assert.ok(row?.locked_until && row.locked_at && row.lease_token);
    assert.deepEqual(
      [row.status, row.attempt_count, row.locked_by, row.handed_over_at, row.message_id],
      ["SENDING", 1, "w1", null, `<${id}@shop.example>`],
    );
    assert.equal(row.locked_until.getTime() - row.locked_at.getTime(), 60_000);
    assert.deepEqual(await mail(pool, id), row);
  });

  test("of one mail by 50 at the same time has one winner", async () => {
    const id = await enqueue(pool);
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => claim(pool, [id], `w${n}`)));
    const winners = results.flat();
    assert.equal(winners.length, 1);
    assert.equal((await mail(pool, id)).locked_by, winners[0]?.locked_by);
    assert.equal((await mail(pool, id)).attempt_count, 1);
  });

  test("of overlapping sets by many at the same time gives each mail to one of them", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => enqueue(pool)));
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => claim(pool, n % 2 ? ids : ids.toReversed(), `w${n}`)),
    );
    assert.deepEqual(
      results
        .flat()
        .map(({ id }) => id)
        .sort(),
      ids.sort(),
    );
  });

  test("leaves what another transaction has locked, and does not wait for it", async () => {
    const [locked, free] = [await enqueue(pool), await enqueue(pool)];
    await transaction(pool, async (client) => {
      await client.query("select from posthaste.email_messages where id = $1 for update", [locked]);
      assert.deepEqual(
        (await claim(pool, [locked, free])).map(({ id }) => id),
        [free],
      );
    });
  });

  const refused: [string, string][] = [
    ["is not due", "next_attempt_at = now() + interval '1 second'"],
    ["has expired", "expires_at = now()"],
    ["has no attempt left", "attempt_count = max_attempts"],
    ["is of a paused transport", "transport = 'paused'"],
    ["is of a transport whose breaker is open", "transport = 'open'"],
    ["is cancelled", "status = 'CANCELLED', finished_at = now()"],
    ["has failed", "status = 'FAILED', finished_at = now()"],
    ["is sent", "status = 'SENT', sent_at = now(), finished_at = now()"],
  ];
  test("leaves what cannot be sent now", async (t) => {
    await pool.query(
      "insert into posthaste_private.transports (name, state, paused_at) values ('paused', 'closed', now()), ('open', 'open', null)",
    );
    for (const [what, change] of refused) {
      await t.test(`because it ${what}`, async () => {
        const id = await enqueue(pool);
        await pool.query(`update posthaste.email_messages set ${change} where id = $1`, [id]);
        const before = await mail(pool, id);
        assert.deepEqual(await claim(pool, [id]), []);
        assert.deepEqual(await mail(pool, id), before);
      });
    }
  });

  test("passes over the open breaker of the transport that is being probed, never over a pause", async () => {
    const probe = (id: string, name: string) =>
      pool.query(
        "select id from posthaste_private.claim(array[$1::uuid], 'w1', '60 s', 'production', 'x.test', $2)",
        [id, name],
      );
    const open = await enqueue(pool, { transport: "open" });
    assert.equal((await probe(open, "other")).rows.length, 0);
    assert.equal((await probe(open, "open")).rows.length, 1);
    assert.equal((await probe(await enqueue(pool, { transport: "paused" }), "paused")).rows.length, 0);
  });

  test("heeds the stop of the default transport for mail that names none", async (t) => {
    await pool.query("insert into posthaste_private.settings values ('default_transport', '\"paused\"')");
    t.after(
      async () =>
        void (await pool.query("delete from posthaste_private.settings where name = 'default_transport'")),
    );
    assert.deepEqual(await claim(pool, [await enqueue(pool)]), []);
  });

  test("takes nothing from a database of another environment", async () => {
    const id = await enqueue(pool);
    const other = "select from posthaste_private.claim(array[$1::uuid], 'w1', '60 s', 'staging', 'x.test')";
    assert.equal((await pool.query(other, [id])).rowCount, 0);
    assert.equal((await mail(pool, id)).status, "PENDING");
  });

  test("of no mail, of an unknown one and of one named twice is no error", async () => {
    assert.deepEqual(await claim(pool, []), []);
    assert.deepEqual(await claim(pool, [randomUUID()]), []);
    const id = await enqueue(pool);
    assert.equal((await claim(pool, [id, id])).length, 1);
  });

  test("keeps the Message-ID of the first attempt, gives a new token and forgets the hand-over", async () => {
    const first = await claimed(pool);
    await extend(first, true);
    await pool.query(
      "update posthaste.email_messages set status = 'PENDING', lease_token = null, locked_until = null where id = $1",
      [first.id],
    );
    const { rows } = await pool.query(
      "select * from posthaste_private.claim(array[$1::uuid], 'w2', '60 s', 'production', 'other.example')",
      [first.id],
    );
    assert.deepEqual(
      [rows[0].message_id, rows[0].attempt_count, rows[0].handed_over_at],
      [`<${first.id}@shop.example>`, 2, null],
    );
    assert.notEqual(rows[0].lease_token, first.token);
  });
});

suite("a lease", () => {
  test("is renewed for its holder, without a hand-over", async () => {
    const lease = await claimed(pool);
    const before = await mail(pool, lease.id);
    assert.deepEqual(await extend(lease, false), [lease.id]);
    const after = await mail(pool, lease.id);
    assert.ok(Number(after.locked_until) - Number(before.locked_until) >= 60_000);
    assert.equal(after.handed_over_at, null);
  });

  test("is never shortened by a renewal", async () => {
    const lease = await claimed(pool);
    await pool.query(
      "update posthaste.email_messages set locked_until = now() + interval '1 hour' where id = $1",
      [lease.id],
    );
    const before = await mail(pool, lease.id);
    await extend(lease, false);
    assert.deepEqual((await mail(pool, lease.id)).locked_until, before.locked_until);
  });

  test("marks the hand-over once and keeps its time", async () => {
    const lease = await claimed(pool);
    assert.deepEqual(await extend(lease, true), [lease.id]);
    const first = (await mail(pool, lease.id)).handed_over_at;
    assert.ok(first);
    assert.deepEqual(await extend(lease, true), [lease.id]);
    assert.deepEqual(await extend(lease, false), [lease.id]);
    assert.deepEqual((await mail(pool, lease.id)).handed_over_at, first);
  });

  for (const handOver of [false, true]) {
    const what = handOver ? "handed over" : "renewed";
    test(`is not ${what} with a wrong token, no token, or the token of an earlier attempt`, async () => {
      const lease = await claimed(pool);
      assert.deepEqual(await extend({ id: lease.id, token: randomUUID() }, handOver), []);
      assert.deepEqual(await extend({ id: lease.id, token: null }, handOver), []);
      await pool.query("update posthaste.email_messages set lease_token = gen_random_uuid() where id = $1", [
        lease.id,
      ]);
      const before = await mail(pool, lease.id);
      assert.deepEqual(await extend(lease, handOver), []);
      assert.deepEqual(await mail(pool, lease.id), before);
    });
  }

  test("of several mails is answered for those that are still held", async () => {
    const [a, b] = [await claimed(pool), await claimed(pool)];
    const { rows } = await pool.query("select posthaste_private.extend_leases($1, $2, '60 s', true) as id", [
      [a.id, b.id],
      [a.token, randomUUID()],
    ]);
    assert.deepEqual(rows, [{ id: a.id }]);
  });

  test("is renewed without touching an index", async () => {
    const lease = await claimed(pool);
    const hot =
      "select pg_stat_get_xact_tuples_hot_updated('posthaste.email_messages'::regclass)::int as hot";
    await transaction(pool, async (client) => {
      const before = (await client.query(hot)).rows[0].hot;
      await client.query(
        "select posthaste_private.extend_leases(array[$1::uuid], array[$2::uuid], '90 s', true)",
        [lease.id, lease.token],
      );
      assert.equal((await client.query(hot)).rows[0].hot, before + 1);
    });
  });
});
