import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import { liveWorker } from "../sql/workers.ts";
import { failMail, openShop, type Shop } from "./shop.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/;
const UNKNOWN = "00000000-0000-7000-8000-000000000000";

test("enqueue prints the id, and the row holds what was said", async (t) => {
  const shop = await openShop(t);
  const run = await shop.run(
    ...["enqueue", "welcome", "Ada <ada@customer.example>", "--parameters", '{"name": "Ada", "count": 3}'],
    ...[
      "--param",
      "name=Bea=B",
      "--key",
      "w:1",
      "--reference",
      "user:1",
      "--locale",
      "de-CH",
      "--owner",
      "7",
    ],
    ...["--cc", "c1@customer.example", "--cc", "c2@customer.example", "--bcc", "b@customer.example"],
    ...["--reply-to", "r@shop.example", "--send-at", "2h", "--expires-at", "2d", "--transport", "bulk"],
    ...["--priority", "-5", "--max-attempts", "3", "--header", "X-Campaign=spring"],
  );
  assert.match(run.stdout, UUID);
  assert.deepEqual([run.code, run.stderr], [0, ""]);
  const row = await shop.row(run.stdout.trim());
  assert.deepEqual(row.recipients, ["Ada <ada@customer.example>"]);
  assert.deepEqual(row.parameters, { name: "Bea=B", count: 3 });
  assert.deepEqual([row.cc.length, row.bcc.length, row.reply_to.length], [2, 1, 1]);
  assert.deepEqual(
    [
      row.idempotency_key,
      row.reference,
      row.locale,
      row.owner,
      row.transport,
      row.priority,
      row.max_attempts,
    ],
    ["w:1", "user:1", "de-CH", "7", "bulk", -5, 3],
  );
  assert.deepEqual(row.headers, { "X-Campaign": "spring" });
  assert.equal(Math.round((row.send_at - row.created_at) / 60_000), 120);
  assert.equal(Math.round((row.expires_at - row.created_at) / 60_000), 2880);

  const again = await shop.run(
    ...["enqueue", "welcome", "other@customer.example", "--key", "w:1", "--param", "name=Ada"],
  );
  assert.match(
    again.stderr,
    /^posthaste: This idempotency key belongs to another request, .*\. Use one key.*\n$/,
  );
  assert.deepEqual([again.code, again.stdout], [1, ""]);
});

test("enqueue of an address that cannot be mailed prints the id and why it is FAILED, exit code 1", async (t) => {
  const shop = await openShop(t);
  const run = await shop.run("enqueue", "welcome", "ada@customer");
  assert.match(run.stdout, UUID);
  assert.match(
    run.stderr,
    /^posthaste: it is FAILED: recipient_invalid: recipients: the domain has no dot\.\n$/,
  );
  assert.equal(run.code, 1);
});

test("list --status FAILED shows a mistyped address with recipient_invalid", async (t) => {
  const shop = await openShop(t);
  const failed = await shop.enqueue("", "ada@customer");
  const fine = await shop.enqueue();
  const run = await shop.run("list", "--status", "failed", "--since", "2h");
  assert.match(
    run.stdout,
    new RegExp(`^ID +STATUS.*\n${failed}  FAILED .*ada@customer\n  recipient_invalid: .*no dot\n$`),
  );
  assert.doesNotMatch(run.stdout, new RegExp(fine));
  assert.deepEqual([run.code, run.stderr], [0, ""]);
});

test("each filter of list narrows, and what matches nothing is said", async (t) => {
  const shop = await openShop(t);
  const id = await shop.enqueue(
    "reference => 'order:1', owner => '7', transport => 'bulk', cc => array['Cy <cy@customer.example>']",
  );
  await shop.enqueue("", "bob@customer.example");
  for (const filter of [
    ["--reference", "order:1"],
    ["--owner", "7"],
    ["--transport", "bulk"],
    ["--recipient", "Cy <CY@customer.example>"],
    [
      "--template",
      "welcome",
      "--reference",
      "order:1",
      "--status",
      "PENDING,SENDING",
      "--until",
      "2999-12-31",
    ],
  ]) {
    const run = await shop.run("list", "--json", ...filter);
    assert.deepEqual(
      JSON.parse(run.stdout).emails.map((email: { id: string }) => email.id),
      [id],
      filter.join(" "),
    );
  }
  for (const filter of [
    ["--until", "1h"],
    ["--template", "other"],
    ["--error-code", "expired"],
    ["--possible-duplicate"],
  ]) {
    const run = await shop.run("list", ...filter);
    assert.deepEqual([run.stdout, run.code], ["No mail matches.\n", 0], filter.join(" "));
  }
  const limited = await shop.run("list", "--limit", "1");
  assert.match(limited.stdout, /\nThere are more: --limit/);
});

test("show tells everything about a mail but its parameters", async (t) => {
  const shop = await openShop(t);
  shop.server.script = {
    rcpt: ({ address }) => (address.startsWith("no") ? "550 5.1.1 no such user \x1b[31m\u202e" : undefined),
  };
  const id = await shop.enqueue(
    "cc => array['No <no@customer.example>'], idempotency_key => 'w:1', reference => 'user:1'",
  );
  await shop.run("worker", "--once");
  for (const word of [id, "w:1", "user:1"]) {
    const run = await shop.run("show", word);
    assert.match(run.stdout, new RegExp(`^SENT  ${id}\n`));
    assert.match(run.stdout, /\n {2}To {2}ada@customer\.example +accepted by the server\n/);
    assert.match(run.stdout, /\n {2}Cc {2}No <no@customer\.example> +refused: 550 5\.1\.1 no such user/);
    assert.match(run.stdout, /\n {2}parameters +name \(values are not shown\)\n/);
    assert.match(
      run.stdout,
      /\nAttempts\n.*\n {2}1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \(.*\) .* sent +final_dot +250/,
    );
    assert.doesNotMatch(run.stdout, /secret-value|[\x1b\u202e]/);
    assert.deepEqual([run.code, run.stderr], [0, ""]);
  }
  const json = await shop.run("show", "w:1", "--json");
  const [email, ...others] = JSON.parse(json.stdout).emails;
  assert.deepEqual([email.id, email.attempts.length, others.length], [id, 1, 0]);
  assert.equal("parameters" in email || "lease_token" in email, false);
  assert.doesNotMatch(json.stdout, /secret-value|[\x1b\u202e]/);
});

test("show lists the mails of a reference, and says when there is none", async (t) => {
  const shop = await openShop(t);
  const ids = [await shop.enqueue("reference => 'user:1'"), await shop.enqueue("reference => 'user:1'")];
  const run = await shop.run("show", "user:1");
  for (const id of ids) assert.match(run.stdout, new RegExp(`\n${id}  PENDING`));
  const none = await shop.run("show", "user:2");
  assert.match(
    none.stderr,
    /^posthaste: There is no mail with the id, idempotency key or reference "user:2".*\n$/,
  );
  assert.deepEqual([none.code, none.stdout], [1, ""]);
});

/** A mail that failed for a reason that can be mended. */
async function failedMail(shop: Shop, more = ""): Promise<string> {
  const id = await shop.enqueue(more);
  await failMail(shop.database, id);
  return id;
}

test("show and list say that the worker of a mail is gone, and when the mail is taken up again", async (t) => {
  const shop = await openShop(t);
  shop.server.script = { rcpt: {} };
  const id = await shop.enqueue();
  const worker = shop.start("worker");
  await shop.server.reached("rcpt");
  assert.doesNotMatch((await shop.run("show", id)).stdout, /gone/);
  worker.child.kill("SIGKILL");
  await worker.ended;
  await eventually("its lock is free", async () =>
    (await shop.run("status")).stdout.startsWith("No worker is running"),
  );
  const alone = "is held by a worker that is gone, and no other one runs: start one with `posthaste worker`";
  assert.ok((await shop.run("show", id)).stdout.includes(`\n  It ${alone}.\n`));
  assert.ok((await shop.run("list")).stdout.includes(`  ${alone}\n`));
  // As if maintenance had not come yet.
  const other = await liveWorker(shop.database, "other");
  const { stdout } = await shop.run("show", id);
  assert.match(
    stdout,
    /^ {2}It is held by a worker that is gone; another one takes it up again at its next maintenance\.$/m,
  );
  await shop.database.query(
    "update posthaste.email_messages set handed_over_at = now(), locked_until = now() + interval '50 seconds' where id = $1",
    [id],
  );
  const handedOver = (await shop.run("show", id)).stdout;
  assert.match(
    handedOver,
    /^ {2}It was handed over by a worker that is gone; it is settled when its lease ends, .* \(in [45]\d s\)\.$/m,
  );
  await other.die();
});

test("cancel and retry act on ids, and a refusal is one sentence with its hint, exit code 1", async (t) => {
  const shop = await openShop(t);
  const [one, two, failed] = [await shop.enqueue(), await shop.enqueue(), await failedMail(shop)];
  const dry = await shop.run("cancel", one, failed, "--dry-run");
  assert.deepEqual([dry.stdout, dry.code], ["1 would be cancelled\n1 not PENDING\n", 0]);
  const cancelled = await shop.run("cancel", one, two, failed, UNKNOWN);
  assert.equal(cancelled.stdout, "2 cancelled\n");
  assert.match(
    cancelled.stderr,
    /^posthaste: Cannot cancel mail .*: it is FAILED, not PENDING\. It has come to its end\.\nposthaste: There is no mail 0{8}.*\n$/,
  );
  assert.equal(cancelled.code, 1);
  assert.equal((await shop.row(one)).status, "CANCELLED");

  const expired = await failedMail(shop, "expires_at => now() + interval '1 hour'");
  await shop.database.query("update posthaste.email_messages set expires_at = now() where id = $1", [
    expired,
  ]);
  const retried = await shop.run("retry", failed, one, expired, "--json");
  const { outcomes, refused } = JSON.parse(retried.stdout);
  assert.deepEqual(outcomes, { retried: 1 });
  assert.deepEqual(
    refused.map(({ code }: { code: string }) => code),
    ["PH021", "PH022"],
  );
  assert.deepEqual([retried.code, retried.stderr], [1, ""]);
  assert.equal((await shop.row(failed)).status, "PENDING");
});

test("retry and cancel take an idempotency key, or a reference that means one mail, and nothing that means several", async (t) => {
  const shop = await openShop(t);
  const keyed = await failedMail(shop, "idempotency_key => 'welcome:1'");
  const one = await failedMail(shop, "reference => 'user:1'");
  const waiting = await shop.enqueue("reference => 'user:1'");
  for (let n = 0; n < 2; n++) await failedMail(shop, "reference => 'user:2'");
  const dry = await shop.run("retry", "welcome:1", "user:1", keyed.toUpperCase(), "--dry-run");
  assert.deepEqual([dry.stdout, dry.code], ["2 would be retried\n", 0]);
  const several = await shop.run("retry", "welcome:1", "user:2");
  assert.match(
    several.stderr,
    /^posthaste: "user:2" is a reference of 2 mails, 2 of them FAILED, and nothing is done: for all .* retry --reference/,
  );
  assert.deepEqual([several.code, several.stdout], [2, ""]);
  assert.equal((await shop.row(keyed)).status, "FAILED");
  const retried = await shop.run("retry", "welcome:1", "user:1", "user:3");
  assert.equal(retried.stdout, "2 retried\n");
  assert.match(
    retried.stderr,
    /^posthaste: There is no mail with the id, idempotency key or reference "user:3"/,
  );
  assert.equal(retried.code, 1);
  for (const id of [keyed, one, waiting]) assert.equal((await shop.row(id)).status, "PENDING");
  assert.equal((await shop.run("cancel", "welcome:1")).stdout, "1 cancelled\n");
  assert.match((await shop.run("cancel", "welcome:1")).stderr, /it is CANCELLED, not PENDING/);
});

test("retry and cancel say when nothing matches", async (t) => {
  const shop = await openShop(t);
  for (const [name, status] of [
    ["retry", "FAILED"],
    ["cancel", "PENDING"],
  ] as const) {
    const run = await shop.run(name, "--reference", "none");
    assert.deepEqual([run.stdout, run.code], [`Nothing matched: no ${status} mail is like that.\n`, 0]);
  }
});

test("retry and cancel act on what filters match, count it, and do no more than --max", async (t) => {
  const shop = await openShop(t);
  for (let n = 0; n < 3; n++) await failedMail(shop, "reference => 'order:1'");
  const other = await failedMail(shop, "reference => 'order:2'");
  const dry = await shop.run("retry", "--reference", "order:1", "--status", "FAILED", "--dry-run");
  assert.deepEqual([dry.stdout, dry.code], ["3 would be retried\n", 0]);
  const some = await shop.run(
    "retry",
    "--error-code",
    "template_not_found",
    "--reference",
    "order:1",
    "--max",
    "2",
  );
  assert.equal(some.stdout, "2 retried\nThere may be more: run retry again, or raise --max.\n");
  const all = await shop.run("cancel", "--all", "--json");
  assert.deepEqual(JSON.parse(all.stdout), {
    dry_run: false,
    outcomes: { cancelled: 2 },
    refused: [],
    more: false,
  });
  assert.equal((await shop.row(other)).status, "FAILED");
});

test("pause and resume stop and start a transport, and status says who paused it and why", async (t) => {
  const shop = await openShop(t, { options: 'maintenanceInterval: "1s"' });
  const early = await shop.run("pause", "new");
  assert.equal(
    early.stdout,
    "Transport new is paused; `posthaste resume new` lets it send again. No worker has run yet, so nobody can say whether there is such a transport.\n",
  );
  await shop.run("resume", "new");
  await shop.run("worker", "--once");
  const id = await shop.enqueue();
  const mistyped = await shop.run("pause", "defualt");
  assert.equal(
    mistyped.stderr,
    "posthaste: No worker has had a transport 'defualt', so nothing is paused. Known: default.\n",
  );
  assert.equal(mistyped.code, 1);
  const paused = await shop.run("pause", "default", "--reason", "wrong prices");
  assert.deepEqual(
    [paused.code, paused.stdout],
    [0, "Transport default is paused; `posthaste resume default` lets it send again.\n"],
  );
  assert.equal((await shop.run("worker", "--once")).code, 0);
  assert.equal((await shop.row(id)).status, "PENDING");
  const status = await shop.run("status");
  assert.match(
    status.stdout,
    /^Transport default is paused since .* by postgres: wrong prices\. `posthaste resume default`/m,
  );
  assert.equal(status.code, 1);
  const why =
    "waits, because the transport default is paused by postgres: wrong prices (`posthaste resume default`)";
  assert.ok((await shop.run("list")).stdout.includes(`; ${why}\n`));
  assert.ok((await shop.run("show", id)).stdout.includes(`\n  It ${why}.\n`));
  const resumed = await shop.run("resume", "default");
  assert.deepEqual(
    [resumed.code, resumed.stdout],
    [
      0,
      "Transport default sends again. 1 mail waits for it, and no worker is running: start one with `posthaste worker`.\n",
    ],
  );
  await shop.run("worker", "--once");
  assert.equal((await shop.row(id)).status, "SENT");
  const again = await shop.run("resume", "default");
  assert.match(again.stderr, /^posthaste: Transport 'default' is not paused\. See .*\n$/);
  assert.equal(again.code, 1);
});

test("configure changes a setting of the database", async (t) => {
  const shop = await openShop(t);
  const run = await shop.run("configure", "strict", "on");
  assert.deepEqual([run.code, run.stdout], [0, "strict is on now.\n"]);
  const refused = await shop.run("enqueue", "welcome", "ada@customer");
  assert.match(refused.stderr, /^posthaste: An address in recipients cannot be mailed: .*\n$/);
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
});

test("status says in words whether mail flows, exit code 0 or 1", async (t) => {
  const shop = await openShop(t);
  const idle = await shop.run("status");
  assert.match(
    idle.stdout,
    /^No worker is running, and nothing is due: start one with `posthaste worker`\.\n\nPENDING +0\n/,
  );
  assert.deepEqual([idle.code, JSON.parse((await shop.run("status", "--json")).stdout).state], [1, "idle"]);
  await shop.enqueue("send_at => now() - interval '3 minutes'");
  const waiting = await shop.run("status", "--json");
  const { state, words, due } = JSON.parse(waiting.stdout);
  assert.deepEqual([state, due, waiting.code, waiting.stderr], ["stopped", 1, 1, ""]);
  assert.match(words[0], /^No worker is running, 1 mail waits, the first since 3 min /);
  const worker = shop.start("worker");
  await shop.server.nextMessage();
  const flowing = await shop.run("status");
  assert.match(flowing.stdout, /^Mail flows\./);
  assert.equal(flowing.code, 0);
  worker.child.kill("SIGTERM");
  await worker.ended;
});

test("resume says how many mails wait, and when they go out", async (t) => {
  const shop = await openShop(t);
  const worker = shop.start("worker");
  await worker.said(/"worker_started"/);
  for (const [count, words] of [
    [0, "No mail waits for it."],
    [2, "2 mails wait for it; what is due goes out within 15 s, a few at first."],
  ] as const) {
    await shop.run("pause", "default");
    for (let n = 0; n < count; n++) await shop.enqueue();
    const { stdout } = await shop.run("resume", "default");
    assert.equal(stdout, `Transport default sends again. ${words}\n`);
  }
  worker.child.kill("SIGTERM");
  await worker.ended;
});

test("enqueue notes on stderr that no worker has such a template, and which there are", async (t) => {
  const shop = await openShop(t);
  const worker = shop.start("worker");
  await worker.said(/"worker_started"/);
  const [wrong, right] = [
    await shop.run("enqueue", "wellcome", "ada@customer.example", "--send-at", "2h"),
    await shop.run("enqueue", "welcome", "ada@customer.example", "--send-at", "2h"),
  ];
  worker.child.kill("SIGTERM");
  await worker.ended;
  assert.match(wrong.stdout, UUID);
  assert.equal(
    wrong.stderr,
    'posthaste: No running worker has a template "wellcome", so the mail will fail. Did you mean welcome? There are welcome.\n',
  );
  assert.deepEqual([wrong.code, right.code, right.stderr], [0, 0, ""]);
});

test("show of a mail whose template another worker has says that there is nothing to do", async (t) => {
  const shop = await openShop(t);
  const id = await shop.enqueue();
  await shop.database.query(
    "update posthaste.email_messages set error_code = 'template_not_found' where id = $1",
    [id],
  );
  const { stdout } = await shop.run("show", id);
  assert.match(stdout, /^ {2}Nothing to do: a worker that has it will take it\.$/m);
  assert.doesNotMatch(stdout, /then retry/);
});
