import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { again, claim, enqueue, type Fields, later, mail, record, transaction } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

const BREAKER = JSON.stringify({ failures: 1_000, probe: 5_000, max_probe: 60_000 });
let made = 0;

/** A transport in its first state. */
async function transport(): Promise<string> {
  const name = `t${++made}`;
  await pool.query("insert into posthaste_private.transports (name) values ($1)", [name]);
  return name;
}

/** A waiting mail of this transport. */
const waiting = (name: string, fields: Fields = {}) => enqueue(pool, { transport: name, ...fields });

/** The breaker hears of a failure: of this mail, or before any. */
async function report(name: string, id: string | null): Promise<void> {
  await pool.query(
    `select posthaste_private.report_transport($1, 'count', (select m.locked_at from posthaste.email_messages m where m.id = $2),
       'transport_unavailable', '421', $3, $2)`,
    [name, id, BREAKER],
  );
}

/** What a worker tells of a mail that the server broke off. */
const brokenOff = (name: string, outcome: Fields = {}) =>
  later({ refund: "unproven", error_code: "transport_unavailable", transport: name, ...outcome });

/** The server breaks off this mail once more; what it has spent, and what was given back. */
async function breakOff(name: string, id: string, outcome: Fields = {}): Promise<[number, number]> {
  await record(pool, await again(pool, id), brokenOff(name, outcome));
  await report(name, id);
  return account(id);
}

async function account(id: string): Promise<[number, number]> {
  const { attempt_count, deferral_count } = await mail(pool, id);
  return [attempt_count, deferral_count];
}

const SENT = { kind: "sent", phase: "final_dot", accepted: [1] };

/** Another mail comes and is sent. */
async function serve(name: string, outcome: Fields = SENT): Promise<void> {
  const id = await waiting(name);
  await record(pool, await again(pool, id), { transport: name, ...outcome });
}

async function row(name: string) {
  const [found] = await database.query("select * from posthaste_private.transports where name = $1", [name]);
  return found;
}

suite("an attempt that the server breaks off", () => {
  test("is given back as long as nobody else is served, however often", async () => {
    const name = await transport();
    const id = await waiting(name, { max_attempts: 1 });
    for (let n = 1; n <= 30; n += 1) assert.deepEqual(await breakOff(name, id), [0, n]);
  });

  for (const phase of ["mail", "rcpt", "data", "final_dot"]) {
    test(`is spent when others were served since this mail, alone, was broken off before (${phase})`, async () => {
      const name = await transport();
      const id = await waiting(name, { max_attempts: 2 });
      assert.deepEqual(await breakOff(name, id, { phase }), [0, 1]);
      await serve(name);
      assert.deepEqual(await breakOff(name, id, { phase }), [1, 1]);
      assert.deepEqual(await breakOff(name, id, { phase }), [1, 2], "nobody was served since");
      await serve(name);
      await breakOff(name, id, { phase });
      const { status, attempt_count, error_code } = await mail(pool, id);
      assert.deepEqual([status, attempt_count, error_code], ["FAILED", 2, "transport_unavailable"]);
    });
  }

  test("is given back when those who were served since had been under way before", async () => {
    const name = await transport();
    const [id, other] = [await waiting(name), await waiting(name)];
    const underWay = await again(pool, other);
    await breakOff(name, id);
    await record(pool, underWay, { ...SENT, transport: name });
    assert.deepEqual(await breakOff(name, id), [0, 2]);
  });

  test("is given back in each of many outages that others were in as well", async () => {
    const name = await transport();
    const ids = [await waiting(name), await waiting(name)] as const;
    for (let n = 1; n <= 5; n += 1) {
      for (const id of ids) assert.deepEqual(await breakOff(name, id), [0, n]);
      await serve(name);
    }
  });

  test("is given back when the one before was the last of an outage", async () => {
    const name = await transport();
    const [id, other] = [await waiting(name), await waiting(name)];
    await breakOff(name, other);
    for (let n = 1; n <= 3; n += 1) assert.deepEqual(await breakOff(name, id), [0, n]);
    await serve(name);
    assert.deepEqual(await breakOff(name, id), [0, 4]);
  });

  test("is given back when nobody could connect at that time", async () => {
    const name = await transport();
    const id = await waiting(name);
    await breakOff(name, id);
    await report(name, null);
    await serve(name);
    assert.deepEqual(await breakOff(name, id), [0, 2]);
  });

  test("is given back when two hung at the same time and the later one was heard of when others were served again", async () => {
    const name = await transport();
    const ids = [await waiting(name), await waiting(name)] as const;
    const leases = [await again(pool, ids[0]), await again(pool, ids[1])] as const;
    await record(pool, leases[0], brokenOff(name));
    await report(name, ids[0]);
    await serve(name);
    await record(pool, leases[1], brokenOff(name));
    await report(name, ids[1]);
    await serve(name);
    for (const id of ids) assert.deepEqual(await breakOff(name, id), [0, 2]);
  });

  test("is spent whatever befalls others, once it has been given back twenty times and others are served in between", async () => {
    const name = await transport();
    const [id, other] = [await waiting(name), await waiting(name)];
    for (let n = 1; n <= 20; n += 1) {
      await breakOff(name, id);
      await breakOff(name, other);
    }
    assert.deepEqual(await breakOff(name, id), [0, 21], "nobody was served");
    await serve(name);
    assert.deepEqual(await breakOff(name, id), [1, 21]);
  });

  test("is given back when only another transport served, or the server said no to everything", async () => {
    const [name, another] = [await transport(), await transport()];
    const id = await waiting(name);
    await breakOff(name, id);
    await report(another, null);
    await serve(another);
    await serve(name, { kind: "failed", phase: "rcpt", smtp_code: 550, error_code: "recipient_refused" });
    assert.deepEqual(await breakOff(name, id), [0, 2]);
  });

  test("is given back when it was another transport that broke it off before", async () => {
    const [before, name] = [await transport(), await transport()];
    const id = await waiting(before);
    await breakOff(before, id);
    await serve(before);
    await breakOff(name, await waiting(name));
    await serve(name);
    await pool.query("update posthaste.email_messages set transport = $2 where id = $1", [id, name]);
    assert.deepEqual(await breakOff(name, id), [0, 2]);
  });

  test("is spent although others could not connect some other time", async () => {
    const name = await transport();
    const id = await waiting(name);
    await breakOff(name, id);
    await serve(name);
    await report(name, null);
    await serve(name);
    assert.deepEqual(await breakOff(name, id), [1, 1]);
  });

  test("is given back when the evidence lies ahead, because the clock was set back", async () => {
    const name = await transport();
    const id = await waiting(name);
    await breakOff(name, id);
    await serve(name);
    await pool.query(
      "update posthaste_private.transports set served_at = now() + interval '1 hour' where name = $1",
      [name],
    );
    assert.deepEqual(await breakOff(name, id), [0, 2]);
    await serve(name);
    assert.deepEqual(await breakOff(name, id), [1, 2], "and the clock that goes on is believed again");
  });

  test("is judged by the same evidence when a worker of the version before tells of it", async () => {
    const name = await transport();
    const id = await waiting(name);
    await breakOff(name, id, { refund: "once" });
    assert.deepEqual(await breakOff(name, id, { refund: "once" }), [0, 2]);
    await serve(name);
    assert.deepEqual(await breakOff(name, id, { refund: "once" }), [1, 2]);
  });
});

suite("the evidence that a server serves", () => {
  test("is written only from a failure on until a mail that was claimed after it", async () => {
    const name = await transport();
    await serve(name);
    assert.equal((await row(name)).served_at, null);
    await breakOff(name, await waiting(name));
    await serve(name);
    const { served_at, failed_at } = await row(name);
    assert.ok(served_at > failed_at);
    await serve(name);
    assert.deepEqual((await row(name)).served_at, served_at);
  });

  test("is found in whatever order a group of outcomes has, and by the latest claim", async () => {
    const name = await transport();
    await report(name, null);
    const ids = [await waiting(name), await waiting(name), await waiting(name)];
    const leases = [];
    for (const id of ids) leases.push(await again(pool, id));
    const told = leases.map((lease) => ({ ...lease, ...SENT, refund: "no", refused: {}, transport: name }));
    await pool.query("select posthaste_private.record_outcomes($1, $2)", [
      JSON.stringify([told[1], told[2], told[0]]),
      JSON.stringify({ delays: [1], max_age: 1e9 }),
    ]);
    assert.deepEqual((await row(name)).served_at, (await mail(pool, ids[2] as string)).locked_at);
  });

  test("is left to the next mail when somebody else writes to the transport, so that no outcome waits", async () => {
    const name = await transport();
    await report(name, null);
    const id = await waiting(name);
    const [claimed] = await claim(pool, [id]);
    await transaction(pool, async (client) => {
      await client.query("select from posthaste_private.transports where name = $1 for update", [name]);
      await record(pool, { id, token: claimed?.lease_token ?? "" }, { ...SENT, transport: name });
    });
    assert.equal((await mail(pool, id)).status, "SENT");
    assert.equal((await row(name)).served_at, null);
    await serve(name);
    assert.notEqual((await row(name)).served_at, null);
  });
});
