import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import { type Scene, startScene } from "../faults/scene.ts";
import type { Script, SmtpSession } from "../smtp-server.ts";

const POLL = { pollInterval: 100 };
const BREAKER = { probe: 50, maxProbe: 100 };
const GOODBYE = { reply: "421 4.3.2 Shutting down", end: "close" } as const;

/** Where a server, or what stands before it, breaks off every mail. */
const OUTAGES: Readonly<Record<string, Script>> = {
  "after MAIL": { mail: { reply: "250 2.1.0 Ok", end: "reset" } },
  "after RCPT": { rcpt: { reply: "250 2.1.5 Ok", end: "close" } },
  "with 421 to DATA": { data: GOODBYE },
  "without an answer to DATA": { data: { end: "reset" } },
  "with 421 to the dot": { dot: GOODBYE },
};

/** Mails with one and with two attempts. */
async function enqueueFew(scene: Scene, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= count; n += 1)
    ids.push(await scene.enqueue({ parameters: { n }, max_attempts: 1 + (n % 2) }));
  return ids;
}

/** When each of these has been given back so many times. */
async function givenBack(scene: Scene, ids: readonly string[], times: number): Promise<void> {
  await eventually(`each was given back ${times} times`, async () => {
    const [{ least, failed, spent }] = await scene.database.query(
      `select min(deferral_count) as least, count(*) filter (where status = 'FAILED')::int as failed,
         max(attempt_count) filter (where status = 'PENDING') as spent
       from posthaste.email_messages where id = any ($1)`,
      [ids],
    );
    assert.deepEqual([failed, spent ?? 0], [0, 0]);
    return least >= times;
  });
}

/** All mail but this is sent, each with its first attempt. */
async function othersAreSent(scene: Scene, not: readonly string[] = []): Promise<void> {
  const others = await scene.database.query(
    "select status, attempt_count, count(*)::int from posthaste.email_messages where id <> all ($1) group by 1, 2",
    [not],
  );
  assert.deepEqual(
    others.map(({ status, attempt_count }) => [status, attempt_count]),
    [["SENT", 1]],
  );
}

for (const [where, script] of Object.entries(OUTAGES)) {
  test(`a server that breaks off every mail ${where} costs none of them an attempt, however often it is probed`, async (t) => {
    const scene = await startScene(t, { smtp: { script }, options: { breaker: BREAKER } });
    const { log } = await scene.here(POLL);
    const ids = await enqueueFew(scene, 4);
    await log.line("transport_opened");
    await givenBack(scene, ids, 4);
    scene.server.script = {};
    await scene.drained();
    await othersAreSent(scene);
    await scene.verify();
  });
}

test("two worker processes that probe a server in an outage spend no attempt either", async (t) => {
  const scene = await startScene(t, {
    smtp: { script: OUTAGES["after RCPT"] as Script },
    options: { breaker: BREAKER },
  });
  await Promise.all([scene.process(), scene.process()]);
  const ids = await enqueueFew(scene, 6);
  await givenBack(scene, ids, 4);
  scene.server.script = {};
  await scene.drained();
  await othersAreSent(scene);
  await scene.verify();
});

test("a server that is up and down again costs no attempt, also where the same mails meet every outage", async (t) => {
  const scene = await startScene(t, { options: { breaker: BREAKER, retry: { delays: ["1h"] } } });
  await scene.here(POLL);
  const down = { data: GOODBYE };
  scene.server.script = down;
  const ids = await enqueueFew(scene, 3);
  for (let outage = 1; outage <= 3; outage += 1) {
    await givenBack(scene, ids, outage);
    scene.server.script = {};
    const between = await scene.enqueue({ parameters: { n: 10 + outage } });
    await scene.until(between, "SENT");
    if (outage < 3) scene.server.script = down;
    for (const id of ids) await scene.hurry(id);
  }
  await scene.drained();
  await othersAreSent(scene);
  await scene.verify();
});

test("a mail that met an outage alone, which refused connections as well, pays nothing when it meets the next one", async (t) => {
  const scene = await startScene(t, { options: { breaker: BREAKER, retry: { delays: ["1h"] } } });
  await scene.here(POLL);
  const id = await scene.enqueue({ parameters: { n: 1 }, max_attempts: 1 });
  const down: Script[] = [{ data: GOODBYE }, { greeting: { end: "reset" } }, { data: GOODBYE }];
  for (const [n, script] of down.entries()) {
    if (n === 2) {
      scene.server.script = {};
      await scene.until(await scene.enqueue({ parameters: { n: 2 } }), "SENT");
    }
    scene.server.script = script;
    await scene.hurry(id);
    await givenBack(scene, [id], n + 1);
  }
  scene.server.script = {};
  await scene.hurry(id);
  await scene.drained();
  await othersAreSent(scene);
  await scene.verify();
});

/** A server that cannot bear the mail to this address. */
function poisonedBy(address: string): Script {
  const poisoned = new WeakSet<SmtpSession>();
  return {
    mail({ session }) {
      poisoned.delete(session);
      return undefined;
    },
    rcpt({ session, address: to }) {
      if (to === address) poisoned.add(session);
      return undefined;
    },
    dot: ({ session }) => (poisoned.has(session) ? GOODBYE : undefined),
  };
}

const POISON = "poison@customer.example";

for (const [workers, processes] of [
  ["one worker", 1],
  ["two worker processes", 2],
] as const) {
  test(`a mail whose content always breaks the server ends after its attempts, and ${workers} send all others with one each`, async (t) => {
    const scene = await startScene(t, {
      smtp: { script: poisonedBy(POISON) },
      options: { breaker: BREAKER },
    });
    await Promise.all(Array.from({ length: processes }, () => scene.process()));
    const poison = await scene.enqueue({ recipient: POISON, parameters: { n: 0 }, max_attempts: 3 });
    const row = await eventually("it is given up amid other mail", async () => {
      await scene.enqueueMany(10);
      const now = await scene.row(poison);
      return now.status === "FAILED" && now;
    });
    assert.deepEqual([row.attempt_count, row.error_code], [3, "transport_unavailable"]);
    await scene.drained();
    await othersAreSent(scene, [poison]);
    await scene.verify();
  });
}

test("mail that comes while one that breaks the server is alone goes out within two probes, and that one comes to its end", async (t) => {
  const scene = await startScene(t, { smtp: { script: poisonedBy(POISON) }, options: { breaker: BREAKER } });
  const { log } = await scene.here(POLL);
  const poison = await scene.enqueue({ recipient: POISON, parameters: { n: 0 }, max_attempts: 2 });
  await log.line("transport_opened");
  await givenBack(scene, [poison], 5);
  let row = await scene.row(poison);
  for (let n = 1; row.status !== "FAILED"; n += 1) {
    const id = await scene.enqueue({ parameters: { n } });
    const { created_at, sent_at } = await scene.until(id, "SENT");
    const meanwhile = (await scene.attempts(poison)).filter(
      ({ started_at, finished_at }) => started_at > created_at && finished_at < sent_at,
    );
    assert.ok(meanwhile.length <= 2, `${meanwhile.length} tries of the other one came first`);
    row = await scene.row(poison);
    assert.ok(n < 40, "it comes to its end");
  }
  assert.deepEqual([row.attempt_count, row.error_code], [2, "transport_unavailable"]);
  await othersAreSent(scene, [poison]);
  await scene.verify();
});
