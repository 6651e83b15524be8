import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { picture, progressLine } from "../../src/cli/progress-line.ts";
import { aged } from "../sql/aged.ts";
import { linesWith } from "../sql/dump.ts";
import { folder, posthaste } from "./posthaste.ts";
import { openShop } from "./shop.ts";

async function oldShop(t: TestContext, options = "") {
  const shop = await openShop(t, { options });
  await aged(shop.database.pool, 12, 91, "SENT");
  await aged(shop.database.pool, 3, 31, "CANCELLED");
  await aged(shop.database.pool, 2, 89, "SENT");
  await aged(shop.database.pool, 4, 1000, "PENDING");
  return shop;
}

const left = async ({ database }: Awaited<ReturnType<typeof oldShop>>) =>
  (await database.query("select count(*)::int as count from posthaste.email_messages"))[0].count;

test("purge removes what is old enough and says how much; without a terminal it draws no progress", async (t) => {
  const shop = await oldShop(t);
  const dry = await shop.run("purge", "--dry-run");
  assert.deepEqual(dry, {
    code: 0,
    stdout: "12 SENT would be removed\n3 CANCELLED would be removed\n",
    stderr: "",
  });
  const counted = await shop.run("purge", "--dry-run", "--json");
  assert.deepEqual(JSON.parse(counted.stdout), {
    dry_run: true,
    emails: { SENT: 12, CANCELLED: 3, FAILED: 0 },
  });
  assert.equal(await left(shop), 21);
  const run = await shop.run("purge");
  assert.deepEqual(run, { code: 0, stdout: "12 SENT deleted\n3 CANCELLED deleted\n", stderr: "" });
  assert.equal(await left(shop), 6);
  const again = await shop.run("purge", "--json");
  const { longest_ms, ...told } = JSON.parse(again.stdout);
  assert.ok(longest_ms < 250);
  assert.deepEqual(told, {
    dry_run: false,
    emails: { SENT: 0, FAILED: 0, CANCELLED: 0 },
    keys: 0,
    files: 0,
    kept_files: 0,
    complete: true,
  });
});

test("purge does as the configuration says: other ages, and the archive", async (t) => {
  const shop = await oldShop(t, 'retention: { sent: "88d", cancelled: null, mode: "archive" }');
  const run = await shop.run("purge");
  assert.deepEqual(run, { code: 0, stdout: "14 SENT archived\n", stderr: "" });
  const [{ count }] = await shop.database.query("select count(*)::int as count from posthaste.email_archive");
  assert.equal(count, 14);
});

test("purge is for the owner: an operator's login is told so", async (t) => {
  const shop = await oldShop(t);
  const { connectionString } = await shop.database.login({ memberOf: "posthaste_operator" });
  const run = await posthaste(folder(t, {}), ["purge"], { DATABASE_URL: connectionString });
  assert.match(run.stderr, /^posthaste: [^\n]*permission denied[^\n]*migrate[^\n]*\n$/);
  assert.deepEqual([run.code, run.stdout], [1, ""]);
});

test("a progress bar is drawn on a terminal, shows what is left, and is wiped away", async () => {
  let written = "";
  const terminal = {
    isTTY: true,
    write: (text: string) => {
      written += text;
    },
  };
  const progress = await progressLine(async () => 10_000, terminal as unknown as NodeJS.WriteStream);
  progress.show(5000);
  progress.show(5001);
  progress.end();
  assert.match(written, /^\r\x1b\[2K\[#{15} {15}\] {2}50 % {2}5,000 of 10,000, about \d+ s left\r\x1b\[2K$/);
  assert.equal(picture(1, 3, 2000), "[##########                    ]  33 %  1 of 3, about 4 s left");
  assert.equal(picture(3, 3, 2000), "[##############################] 100 %  3 of 3");
  const nobody = await progressLine(() => assert.fail("nothing is counted where nobody looks"), {
    isTTY: false,
  } as NodeJS.WriteStream);
  nobody.show(1);
  nobody.end();
});

test("erase takes a person out of everything, in each spelling of the domain, and can be run again", async (t) => {
  const shop = await openShop(t);
  const waiting = await shop.enqueue("", "Ada <ada@bücher.example>");
  const ended = await shop.enqueue(
    "idempotency_key => 'hello:ADA@xn--bcher-kva.example'",
    "ada@xn--bcher-kva.example",
  );
  await shop.run("worker", "--once");
  assert.equal((await shop.row(ended)).status, "SENT");
  const other = await shop.enqueue("cc => array['Bob <bob@shop.example>']", "ADA@Bücher.example");
  const dry = await shop.run("erase", "ada@bücher.example", "--dry-run");
  assert.deepEqual([dry.code, dry.stdout], [0, "1 waiting mail\n2 ended mail\n"]);
  const run = await shop.run("erase", "Ada <Ada@xn--bcher-kva.example>");
  assert.deepEqual(
    [run.code, run.stderr, run.stdout],
    [0, "", "1 waiting mail that goes on without the person\n2 ended mail\n"],
  );
  for (const word of ["ada@bücher.example", "ada@xn--bcher-kva.example", "Ada <"]) {
    assert.deepEqual(await linesWith(shop.database.pool, word), [], word);
  }
  assert.equal((await shop.row(waiting)).status, "SENT");
  const before = shop.server.accepted.length;
  await shop.run("worker", "--once");
  const mail = shop.server.accepted.at(-1);
  assert.equal(shop.server.accepted.length, before + 1);
  assert.deepEqual(mail?.recipients, ["bob@shop.example"]);
  assert.doesNotMatch(mail?.raw.toString() ?? "", /erased\.invalid|^To:/m);
  assert.equal((await shop.row(other)).status, "SENT");
  const again = await shop.run("erase", "ada@bücher.example", "--json");
  const { dry_run, more, ...counts } = JSON.parse(again.stdout);
  assert.deepEqual([again.code, dry_run, more], [0, false, false]);
  assert.deepEqual(new Set(Object.values(counts)), new Set([0]));
});

test("erase says what is in flight, exit code 1, and what is no address, exit code 1", async (t) => {
  const shop = await openShop(t);
  const id = await shop.enqueue();
  await shop.database.query(
    "select posthaste_private.claim(array[$1::uuid], 'w', '60 seconds', 'production', 'shop.example')",
    [id],
  );
  const run = await shop.run("erase", "ada@customer.example");
  assert.match(
    run.stdout,
    /^1 in flight: a worker is sending at this moment\. Run it again in a minute\.\n$/,
  );
  assert.equal(run.code, 1);
  const wrong = await shop.run("erase", "ada");
  assert.match(wrong.stderr, /^posthaste: Address must be one address, user@host\. .*\n$/);
  assert.deepEqual([wrong.code, wrong.stdout], [1, ""]);
});
