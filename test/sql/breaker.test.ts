import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { claim, enqueue, jobsOf } from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;

const BREAKER = JSON.stringify({ failures: 3, probe: 5_000, max_probe: 60_000 });
let made = 0;

/** A transport in its first state. */
async function transport(): Promise<string> {
  const name = `t${++made}`;
  await pool.query(
    "insert into posthaste_private.transports (name, since) values ($1, now() - interval '1 minute')",
    [name],
  );
  return name;
}

async function report(
  name: string,
  verdict: "close" | "count" | "open",
  began = "now",
  reason = "no route",
): Promise<string> {
  const [row] = await database.query(
    "select posthaste_private.report_transport($1, $2, $3, 'transport_unavailable', $4, $5) as state",
    [name, verdict, began === "now" ? null : began, reason, BREAKER],
  );
  return row.state;
}

async function row(name: string) {
  const [found] = await database.query(
    "select *, extract(epoch from next_probe_at - now())::float8 as probe_in, extract(epoch from probe_delay)::float8 as delay from posthaste_private.transports where name = $1",
    [name],
  );
  return found;
}

async function take(name: string, hold = "60 seconds"): Promise<{ name: string; email_id: string | null }[]> {
  return database.query("select * from posthaste_private.take_probes(array[$1], $2)", [name, hold]);
}

const makeProbeDue = (name: string) =>
  pool.query("update posthaste_private.transports set next_probe_at = now() where name = $1", [name]);

suite("the breaker of a transport", () => {
  test("opens after three failures in a row, and says why and when it is probed", async () => {
    const name = await transport();
    assert.deepEqual(
      [
        await report(name, "count"),
        await report(name, "count"),
        await report(name, "count", "now", "no\r\nroute\u0007"),
      ],
      ["closed", "closed", "open"],
    );
    const { state, failures, error_code, reason, probe_in, since } = await row(name);
    assert.deepEqual(
      [state, failures, error_code, reason],
      ["open", 3, "transport_unavailable", "no route "],
    );
    assert.ok(probe_in > 3 && probe_in < 7 && Date.now() - since.getTime() < 10_000);
  });

  test("opens at once for what needs a human", async () => {
    const name = await transport();
    assert.equal(await report(name, "open"), "open");
  });

  test("counts anew after an answer", async () => {
    const name = await transport();
    await report(name, "count");
    await report(name, "count");
    assert.equal(await report(name, "close"), "closed");
    assert.deepEqual([(await row(name)).failures, (await row(name)).reason], [0, null]);
    assert.equal(await report(name, "count"), "closed");
  });

  test("doubles the pause with each failed probe, to the longest", async () => {
    const name = await transport();
    await report(name, "open");
    const delays = [];
    for (let n = 0; n < 6; n++) {
      delays.push((await row(name)).delay);
      await report(name, "count");
    }
    assert.deepEqual(delays, [5, 10, 20, 40, 60, 60]);
  });

  test("closes with the first answer, and then jobs come in small numbers", async () => {
    const name = await transport();
    await report(name, "open");
    assert.equal(await report(name, "close"), "closed");
    const { state, failures, allowance, next_probe_at, reason } = await row(name);
    assert.deepEqual([state, failures, allowance, next_probe_at, reason], ["closed", 0, 20, null, null]);
  });

  test("is not reopened by failures of attempts that began before it closed", async () => {
    const name = await transport();
    await report(name, "open");
    await report(name, "close");
    for (let n = 0; n < 5; n++) assert.equal(await report(name, "open", "2020-01-01"), "closed");
    assert.equal((await row(name)).failures, 0);
  });

  test("is not pushed further by failures of attempts that began before it opened", async () => {
    const name = await transport();
    await report(name, "open");
    const before = await row(name);
    await report(name, "count", "2020-01-01");
    assert.deepEqual([(await row(name)).delay, (await row(name)).failures], [before.delay, before.failures]);
  });

  test("counts each of many failures at the same time", async () => {
    const name = await transport();
    const states = await Promise.all(Array.from({ length: 10 }, () => report(name, "count")));
    assert.equal(states.filter((state) => state === "closed").length, 2);
  });

  test("of a transport that nobody has registered is no error", async () => {
    assert.equal(
      (
        await database.query(
          "select posthaste_private.report_transport('none', 'open', null, 'x', 'x', $1) as state",
          [BREAKER],
        )
      )[0].state,
      null,
    );
    assert.equal(await report("none", "close"), "closed");
  });

  test("that is open leaves its mail without job and claim, and other transports alone", async () => {
    const [open, other] = [await transport(), await transport()];
    await report(open, "open");
    const [stopped, free] = [
      await enqueue(pool, { transport: open }),
      await enqueue(pool, { transport: other }),
    ];
    assert.deepEqual([(await jobsOf(pool, stopped)).length, (await jobsOf(pool, free)).length], [0, 1]);
    assert.deepEqual(
      (await claim(pool, [stopped, free])).map(({ id }) => id),
      [free],
    );
  });
});

suite("a probe", () => {
  test("is given to one of many workers, with the mail that is due first", async () => {
    const name = await transport();
    await enqueue(pool, { transport: name, send_at: new Date(Date.now() + 60_000) });
    const first = await enqueue(pool, { transport: name, send_at: new Date(Date.now() - 60_000) });
    await enqueue(pool, { transport: name });
    await report(name, "open");
    assert.deepEqual(await take(name), [], "not before its time");
    await makeProbeDue(name);
    const taken = await Promise.all(Array.from({ length: 10 }, () => take(name)));
    assert.deepEqual(taken.flat(), [{ name, email_id: first }]);
  });

  test("takes the mail with the fewest tries of the first twenty that are due", async () => {
    const name = await transport();
    const ids: string[] = [];
    for (let n = 0; n < 22; n += 1)
      ids.push(await enqueue(pool, { transport: name, send_at: new Date(Date.now() - 60_000 + n * 1_000) }));
    const tried = (list: readonly string[], attempts: number, deferrals: number) =>
      pool.query(
        "update posthaste.email_messages set attempt_count = $2, deferral_count = $3 where id = any ($1)",
        [list, attempts, deferrals],
      );
    await tried(ids, 0, 7);
    await tried([ids[3], ids[5]] as string[], 1, 2);
    await tried([ids[4]] as string[], 4, 0);
    // Beyond the first twenty, so that a probe reads no long queue.
    await tried([ids[20]] as string[], 0, 0);
    await report(name, "open");
    await makeProbeDue(name);
    assert.deepEqual(await take(name), [{ name, email_id: ids[3] }]);
  });

  test("is given again when the one who took it does not report in time", async () => {
    const name = await transport();
    await report(name, "open");
    await makeProbeDue(name);
    assert.deepEqual(await take(name, "0 seconds"), [{ name, email_id: null }]);
    assert.deepEqual(await take(name), [{ name, email_id: null }]);
    assert.deepEqual(await take(name), []);
  });

  test("is not made of a transport that is closed, paused, or another worker's", async () => {
    const name = await transport();
    await makeProbeDue(name);
    assert.deepEqual(await take(name), []);
    await report(name, "open");
    await makeProbeDue(name);
    assert.deepEqual(await take("another"), []);
    await pool.query("select posthaste.pause($1, 'x')", [name]);
    assert.deepEqual(await take(name), []);
    await pool.query("select posthaste.resume($1)", [name]);
    assert.equal((await take(name)).length, 1, "at once after the pause");
  });

  test("time is told to the workers, and none for a pause", async () => {
    const name = await transport();
    const state = async () =>
      (await database.query("select * from posthaste_private.transport_states(array[$1])", [name]))[0];
    assert.deepEqual(await state(), { name, state: "closed", failures: 0, probe_in: null });
    await report(name, "open");
    const open = await state();
    assert.ok(open.state === "open" && open.probe_in > 1_000 && open.probe_in < 8_000);
    await pool.query("select posthaste.pause($1, 'x')", [name]);
    assert.deepEqual(await state(), { name, state: "paused", failures: 1, probe_in: null });
  });
});
