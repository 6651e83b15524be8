import assert from "node:assert/strict";
import { test } from "node:test";
import { flowOf } from "../../src/cli/flow.ts";
import type { QueueStats, QueueTroubles, TransportStatus } from "../../src/database/ledger.ts";

const NOW = Date.parse("2026-08-01T22:00:00Z");
const minutes = (count: number) => new Date(NOW - count * 60_000);

const TRANSPORT: TransportStatus = {
  name: "default",
  default: true,
  state: "closed",
  since: minutes(9).toISOString(),
  failures: 0,
  error_code: null,
  reason: null,
  paused_by: null,
  next_probe_at: null,
};

const TROUBLES: QueueTroubles = {
  without_transport: [],
  worker_transports: ["default", "bulk"],
  failed_recently: [],
  abandoned: 0,
  abandoned_until: null,
};

function judge(stats: Partial<QueueStats>, troubles: Partial<QueueTroubles> = {}) {
  return flowOf(
    {
      pending: 0,
      sending: 0,
      sent: 0,
      failed: 0,
      cancelled: 0,
      ended_are_estimates: false,
      due: 0,
      oldest_due_at: null,
      expired_leases: 0,
      live_workers: 1,
      listening_workers: 1,
      transports: [TRANSPORT],
      environment: "production",
      ...stats,
    },
    { ...TROUBLES, ...troubles },
    NOW,
  );
}

test("mail flows while workers send what is due, however much waits", () => {
  assert.deepEqual(judge({}), { state: "flowing", words: ["Mail flows. Nothing is due."] });
  const { state, words } = judge({ pending: 9, due: 9, sending: 2, oldest_due_at: minutes(30) });
  assert.equal(state, "flowing");
  assert.match(words[0] ?? "", /^Mail flows\. Being sent: 2, due: 9, the first since 30 min \(.*\)\.$/);
});

test("without a worker it depends on whether anything waits for one", () => {
  const none = { live_workers: 0, listening_workers: 0 };
  assert.equal(judge({ ...none, pending: 3 }).state, "idle");
  const waiting = judge({ ...none, due: 12, oldest_due_at: minutes(3) });
  assert.equal(waiting.state, "stopped");
  assert.match(
    waiting.words[0] ?? "",
    /^No worker is running, 12 mails wait, the first since 3 min .*`posthaste worker`\.$/,
  );
  assert.match(judge({ ...none, sending: 1 }).words[0] ?? "", /one was lost while it sent 1 mail/);
});

test("a stopped transport is told with the server's words, since when, and the next probe", () => {
  const open: TransportStatus = {
    ...TRANSPORT,
    state: "open",
    error_code: "transport_misconfigured",
    reason: "auth: 535 5.7.8 bad credentials",
    next_probe_at: new Date(NOW + 40_000).toISOString(),
  };
  const { state, words } = judge({ transports: [open] });
  assert.equal(state, "stopped");
  assert.match(
    words[0] ?? "",
    /^Transport default is stopped since 9 min \(.*\), next probe .* \(in 40 s\): auth: 535 5\.7\.8 bad credentials\. Mend the transport's/,
  );
  const unattended = judge({ transports: [open], live_workers: 0 }).words;
  assert.match(unattended[0] ?? "", /a worker will probe it/);
});

test("due mail that no worker takes is a fault after two minutes, unless its transport stands still", () => {
  assert.equal(judge({ due: 1, oldest_due_at: minutes(1) }).state, "flowing");
  const { state, words } = judge({ due: 1, oldest_due_at: minutes(3) });
  assert.equal(state, "stopped");
  assert.match(
    words[0] ?? "",
    /1 mail that is due is not being sent.*environment than this database's \(production\)/,
  );
  const paused = { ...TRANSPORT, state: "paused", paused_by: "ops" } as const;
  assert.deepEqual(judge({ due: 1, oldest_due_at: minutes(3), transports: [paused] }).words.length, 1);
});

test("failures that have not stopped a transport yet, and silence of notifications, are told while mail flows", () => {
  const { state, words } = judge({
    listening_workers: 0,
    transports: [{ ...TRANSPORT, failures: 2, reason: "421 4.3.2" }],
  });
  assert.equal(state, "flowing");
  assert.match(words[1] ?? "", /default failed 2 times in a row: 421 4\.3\.2/);
  const [, once] = judge({ transports: [{ ...TRANSPORT, failures: 1, reason: "421 4.3.2" }] }).words;
  assert.equal(once, "Transport default failed once: 421 4.3.2");
  assert.match(words[2] ?? "", /No worker hears notifications/);
});

test("mail for a transport that no worker has does not flow, whatever else does", () => {
  const { state, words } = judge({}, { without_transport: [{ transport: "bluk", emails: 3 }] });
  assert.equal(state, "stopped");
  assert.match(
    words[0] ?? "",
    /^3 mails wait for the transport "bluk", which no worker has \(known: default, bulk\)\. .*`posthaste list --transport bluk/,
  );
});

test("a mail whose worker is gone is told with the time at which it is settled", () => {
  const until = new Date(NOW + 40_000);
  const flowing = judge({ sending: 1 }, { abandoned: 1, abandoned_until: until });
  assert.equal(flowing.state, "flowing");
  assert.equal(flowing.words[1], "1 mail's worker is gone; it is settled when its lease ends, in 40 s.");
  const stopped = judge(
    { sending: 2, live_workers: 0, listening_workers: 0 },
    { abandoned: 2, abandoned_until: until },
  );
  assert.match(stopped.words[1] ?? "", /^The workers of 2 mails are gone; .* the last in 40 s\.$/);
});
