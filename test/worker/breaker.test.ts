import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import { type Scene, startScene } from "../faults/scene.ts";
import { type Script, startSmtpServer } from "../smtp-server.ts";

const POLL = { pollInterval: 100 };

async function transportOf(scene: Scene, name = "default") {
  const [row] = await scene.database.query("select * from posthaste_private.transports where name = $1", [
    name,
  ]);
  return row;
}

/** Waits until the breaker is open. */
async function opened(scene: Scene) {
  return eventually("the breaker is open", async () => {
    const transport = await transportOf(scene);
    return transport?.state === "open" && transport;
  });
}

const FAULTS: Readonly<Record<string, { script: Script; code: string; phase: string }>> = {
  "a greeting of 554": {
    script: { greeting: { reply: "554 5.3.2 No service", end: "close" } },
    code: "transport_unavailable",
    phase: "connect",
  },
  "a connection that ends before the greeting": {
    script: { greeting: { end: "reset" } },
    code: "transport_unavailable",
    phase: "connect",
  },
  "421 to MAIL": {
    script: { mail: { reply: "421 4.3.2 Shutting down", end: "close" } },
    code: "transport_unavailable",
    phase: "mail",
  },
  "a wrong password": {
    script: { auth: "535 5.7.8 Authentication failed" },
    code: "transport_misconfigured",
    phase: "auth",
  },
};

for (const [fault, { script, code, phase }] of Object.entries(FAULTS)) {
  test(`${fault} costs no mail an attempt, and all mail goes out by itself when the server is well`, async (t) => {
    const scene = await startScene(t, { smtp: { script, login: "shop:secret" } });
    const url = scene.server.url.replace("//", "//shop:secret@");
    const { log } = await scene.here({ ...POLL, options: { transports: { default: { url } } } });
    const ids = await scene.enqueueMany(40);
    assert.equal((await log.line("transport_opened")).phase, phase);
    const blocked = await opened(scene);
    assert.equal(blocked.error_code, code);
    await log.line("transport_probed");
    // Those who were in flight come back; nothing new begins.
    await eventually("no mail is in flight", async () => {
      const [{ count }] = await scene.database.query(
        "select count(*)::int from posthaste.email_messages where status = 'SENDING'",
      );
      return count === 0;
    });
    const begun = await scene.database.query(
      "select attempt_count, deferral_count, status, error_code from posthaste.email_messages where deferral_count > 0",
    );
    assert.ok(begun.length >= 1 && begun.length <= 40);
    for (const row of begun) {
      assert.deepEqual([row.attempt_count, row.status, row.error_code], [0, "PENDING", code]);
    }
    const [attempt] = await scene.attempts(
      (await scene.database.query("select email_id from posthaste.email_attempts limit 1"))[0].email_id,
    );
    assert.deepEqual([attempt?.outcome, attempt?.phase, attempt?.error_code], ["deferred", phase, code]);
    scene.server.script = {};
    await log.line("transport_closed");
    await scene.drained();
    const [{ sent, most }] = await scene.database.query(
      "select count(*) filter (where status = 'SENT')::int as sent, max(attempt_count) as most from posthaste.email_messages",
    );
    assert.deepEqual([sent, most], [ids.length, 1]);
    await scene.verify();
  });
}

test("a host that refuses connections opens the breaker after three failures, and another transport goes on", async (t) => {
  const closed = await startSmtpServer();
  await closed.close();
  const scene = await startScene(t);
  const transports = { default: { url: scene.server.url }, broken: { url: closed.url } };
  const { log } = await scene.here({ ...POLL, options: { transports, concurrency: 1 } });
  const waiting: string[] = [];
  for (let n = 1; n <= 6; n += 1)
    waiting.push(await scene.enqueue({ transport: "broken", parameters: { n } }));
  await log.line("transport_opened");
  assert.equal((await transportOf(scene, "broken"))?.state, "open");
  const sent = await scene.enqueue({ parameters: { n: 7 } });
  await scene.until(sent, "SENT");
  const [{ deferrals, spent }] = await scene.database.query(
    "select sum(deferral_count)::int as deferrals, sum(attempt_count)::int as spent from posthaste.email_messages where transport = 'broken'",
  );
  assert.equal(spent, 0);
  assert.ok(deferrals >= 3 && deferrals <= 5, `${deferrals} attempts before it opened, then probes`);
  await scene.verify({ waiting: waiting.sort() });
});

test("while a password is wrong the server sees few logins, however much is waiting", async (t) => {
  const scene = await startScene(t, { smtp: { login: "shop:new" } });
  let logins = 0;
  let accepted = false;
  scene.server.script.auth = () => {
    logins += 1;
    return accepted ? undefined : "535 5.7.8 Authentication failed";
  };
  const url = scene.server.url.replace("//", "//shop:new@");
  const breaker = { probe: "1s", maxProbe: "1s" };
  const concurrency = 4;
  const options = { transports: { default: { url } }, breaker, concurrency };
  const { log } = await scene.here({ ...POLL, options });
  await scene.enqueueMany(500);
  await scene.server.reached("auth");
  await log.line("transport_probed");
  accepted = true;
  const before = logins;
  const probes = log.lines.filter(({ event }) => event === "transport_probed").length;
  await log.line("transport_closed");
  await scene.drained();
  // Each mail that was under way may have found out for itself; then it is one probe after the other.
  assert.ok(before <= concurrency + probes + 1, `${before} logins and ${probes} probes for 500 mails`);
  assert.ok(
    scene.server.sessions.length <= before + 15,
    `${scene.server.sessions.length} connections in all`,
  );
  await scene.verify();
});

test("a paused transport sends nothing, and everything once it is resumed", async (t) => {
  const scene = await startScene(t);
  await scene.here(POLL);
  await scene.database.query("select posthaste.pause('default', 'the provider moves')");
  const ids = await scene.enqueueMany(100);
  await scene.database.query("select posthaste_private.maintain('{\"max_age\": 1e12}', '0', 2000)");
  const jobs = await scene.database.query("select from graphile_worker.jobs");
  assert.equal(jobs.length, 0, "what is paused has no jobs");
  assert.equal(scene.server.sessions.length, 0);
  await scene.database.query("select posthaste.resume('default')");
  await scene.drained();
  assert.equal(scene.server.accepted.length, ids.length);
  await scene.verify();
});

test("a probe whose mail gets no answer to its dot is followed by another one soon", async (t) => {
  const script: Script = { greeting: { reply: "554 5.3.2 No service", end: "close" } };
  const scene = await startScene(t, { smtp: { script } });
  const { log } = await scene.here(POLL);
  await scene.enqueueMany(5);
  await log.line("transport_opened");
  let dots = 0;
  scene.server.script = {
    dot: () => {
      dots += 1;
      return dots === 1 ? { end: "reset" } : undefined;
    },
  };
  await scene.drained(15_000);
  assert.deepEqual(
    await scene.database.query("select count(*)::int from posthaste.email_messages where possible_duplicate"),
    [{ count: 1 }],
  );
  await scene.verify();
});
