import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readMeasurements } from "../../src/database/measurements.ts";
import { createCached } from "../../src/metrics/cached.ts";
import { createHttpMetrics } from "../../src/metrics/metrics.ts";
import { createTestDatabase } from "../database.ts";
import { readSeries, type Series } from "./series.ts";

const database = await createTestDatabase();
const scrape = async (): Promise<Series> =>
  readSeries((await createHttpMetrics(() => readMeasurements(database.pool))()).body);

suite("the figures of the database", () => {
  test("tell the queue, transports and failures by cause", async () => {
    await database.query(
      `select posthaste.enqueue('welcome', 'jane@customer.example', send_at => now() - interval '90 seconds'),
         posthaste.enqueue('welcome', 'jane@customer.example', send_at => now() + interval '1 day'),
         posthaste.enqueue('welcome', 'no address'), posthaste.enqueue('welcome', 'nor this')`,
    );
    await database.query("select posthaste.pause('bulk', 'the holidays of jane@customer.example')");
    const series = await scrape();
    assert.equal(series.get('posthaste_emails{status="PENDING"}'), 2);
    assert.equal(series.get('posthaste_emails{status="FAILED"}'), 2);
    assert.equal(series.get("posthaste_due"), 1);
    const oldest = series.get("posthaste_oldest_due_seconds") ?? 0;
    assert.ok(oldest >= 90 && oldest < 120, `${oldest} s`);
    assert.equal(series.get('posthaste_failed_recently{code="recipient_invalid"}'), 2);
    assert.equal(series.get('posthaste_transport_state{transport="bulk",state="paused"}'), 1);
    assert.equal(series.get('posthaste_transport_state{transport="bulk",state="closed"}'), 0);
    assert.equal(series.get("posthaste_live_workers"), 0);
    assert.equal(series.has("posthaste_maintenance_age_seconds"), false, "it never ran");
    assert.ok((series.get('posthaste_table_bytes{table="posthaste.email_messages"}') ?? 0) > 8192);
    assert.ok(![...series.keys()].some((name) => /jane|customer|holidays/.test(name)));
  });

  test("tell the oldest snapshot, whoever holds it, and that it is gone", async () => {
    const client = await database.pool.connect();
    try {
      await client.query("begin isolation level repeatable read");
      await client.query("select 1");
      await database.query("create table posthaste_private.moves (id int)");
      for (let n = 0; n < 5; n++) await database.query("insert into posthaste_private.moves values (1)");
      const held = await scrape();
      assert.ok((held.get("posthaste_oldest_snapshot_seconds") ?? 0) > 0);
      assert.ok((held.get("posthaste_oldest_snapshot_transactions") ?? 0) >= 5);
      assert.equal(held.get("posthaste_oldest_snapshot_sees_all"), 1);
      await client.query("commit");
    } finally {
      client.release(true);
    }
    assert.ok(((await scrape()).get("posthaste_oldest_snapshot_transactions") ?? 99) < 5);
  });

  test("tell how far a purge has come", async () => {
    assert.equal((await scrape()).has('posthaste_purge_age_seconds{event="began"}'), false);
    await database.query("select posthaste_private.begin_purge()");
    await database.query("select posthaste_private.count_removed('SENT', 7)");
    const running = await scrape();
    assert.equal(running.get("posthaste_purge_running"), 1);
    assert.equal(running.get('posthaste_purge_removed{what="SENT"}'), 7);
    assert.equal(running.has('posthaste_purge_age_seconds{event="ended"}'), false);
    await database.query("select posthaste_private.end_purge(true)");
    const ended = await scrape();
    assert.equal(ended.get("posthaste_purge_running"), 0);
    assert.equal(ended.get("posthaste_purge_complete"), 1);
    assert.ok((ended.get('posthaste_purge_age_seconds{event="ended"}') ?? 99) < 60);
  });

  test("are absent, not old and not 0, when the database does not answer", async () => {
    const series = readSeries((await createHttpMetrics(() => Promise.reject(new Error("gone")))()).body);
    assert.equal(series.get("posthaste_database_up"), 0);
    assert.deepEqual(
      [...series.keys()].filter((name) => name.startsWith("posthaste_") && !/_up$|_info\{/.test(name)),
      [],
    );
  });
});

suite("however many scrape,", () => {
  function counted(took = 0) {
    let clock = 0;
    let reads = 0;
    let answer: () => Promise<number> = async () => {
      clock += took;
      return reads;
    };
    const cached = createCached(
      () => {
        reads += 1;
        return answer();
      },
      { now: () => clock, patience: 20 },
    );
    return {
      cached,
      pass: (milliseconds: number) => (clock += milliseconds),
      reads: () => reads,
      answers: (next: () => Promise<number>) => (answer = next),
    };
  }

  test("the database is asked once in ten seconds", async () => {
    const { cached, pass, reads } = counted();
    await Promise.all(Array.from({ length: 50 }, () => cached()));
    pass(9_999);
    assert.deepEqual(await cached(), { value: 1, age: 9.999, took: 0, ok: true });
    assert.equal(reads(), 1);
    pass(1);
    assert.equal((await cached()).value, 2);
  });

  test("a slow answer is asked for at a twentieth of the time, and a failure no sooner", async () => {
    const { cached, pass, reads, answers } = counted(2_000);
    await cached();
    pass(39_999);
    await cached();
    assert.equal(reads(), 1);
    pass(1);
    answers(() => Promise.reject(new Error("gone")));
    assert.deepEqual(await cached(), { value: 1, age: 40, took: 2, ok: false });
    await cached();
    assert.equal(reads(), 2);
  });

  test("there is one question at a time, and nobody waits for it for long", async () => {
    const { cached, pass, reads, answers } = counted();
    assert.equal((await cached()).ok, true);
    pass(10_000);
    let reply: (value: number) => void = () => undefined;
    answers(() => new Promise((resolve) => (reply = resolve)));
    const [first, second] = await Promise.all([cached(), cached()]);
    assert.deepEqual([first, second], Array(2).fill({ value: 1, age: 10, took: 0, ok: false }));
    pass(60_000);
    assert.deepEqual(await cached(), { value: null, age: 70, took: 0, ok: false });
    assert.equal(reads(), 2);
    reply(5);
    assert.equal((await cached()).value, 5);
  });
});
