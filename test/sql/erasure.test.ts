import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, test } from "node:test";
import { createTestDatabase } from "../database.ts";
import { linesWith } from "./dump.ts";
import {
  again,
  attemptsOf,
  claimed,
  enqueue,
  errorOf,
  type Fields,
  insert,
  later,
  mail,
  record,
  unique,
} from "./mails.ts";

const database = await createTestDatabase();
const { pool } = database;
const operator = database.as("posthaste_operator");

// biome-ignore lint/suspicious/noExplicitAny: a test knows its columns.
async function erase(address: string, on: Pick<typeof pool, "query"> = operator): Promise<any> {
  return (await on.query("select * from posthaste.erase_recipient($1)", [address])).rows[0];
}

/** What stands for an erased address. */
async function hashOf(address: string): Promise<string> {
  return (await database.query("select posthaste_private.erased_address($1) as hash", [address]))[0].hash;
}

/** An address that no other test uses. */
const person = (name = "jane") => `${name}-${randomUUID().slice(0, 8)}@customer.example`;

const NOTHING = {
  waiting: 0,
  cancelled: 0,
  ended: 0,
  archived: 0,
  in_flight: 0,
  files: 0,
  elsewhere: 0,
  more: false,
};

/** A mail that was sent to everybody in it. */
async function sent(fields: Fields): Promise<string> {
  const lease = await claimed(pool, fields);
  const { rows } = await pool.query(
    "select cardinality(recipients || cc || bcc) as count from posthaste.email_messages where id = $1",
    [lease.id],
  );
  const accepted = Array.from({ length: rows[0].count }, (_, index) => index + 1);
  await record(pool, lease, {
    kind: "sent", phase: "final_dot", accepted, subject: "Yours", provider_response: "250 queued", transport: "default",
  }); // biome-ignore format: one outcome
  return lease.id;
}

suite("erase_recipient", () => {
  test("leaves the address nowhere in a full dump, whatever its case and wherever it stands", async () => {
    const jane = person();
    const shouted = `"Jane Doe" <${jane.toUpperCase()}>`;
    const reference = unique("order");
    await sent({ recipient: `Jane Doe <${jane}>`, parameters: { name: "Jane", mail: jane }, idempotency_key: `hello:${jane}`, reference }); // biome-ignore format: one mail
    await sent({
      recipient: "bob@shop.example",
      cc: [shouted],
      parameters: { invited: `By\n${jane}`, [jane]: 1 },
    });
    await sent({
      recipient: "shop@shop.example",
      reply_to: [shouted],
      parameters: { text: `From <${jane}>.` },
    });
    await sent({
      recipient: "ann@shop.example",
      from_address: `Jane <${jane}>`,
      owner: jane,
      reference: `of:${jane}`,
    });
    await sent({ recipient: "eve@shop.example", headers: { "List-Unsubscribe": `<https://shop.example/u?m=${encodeURIComponent(jane)}>` } }); // biome-ignore format: one mail
    const file = await sent({ recipient: "file@shop.example" });
    await pool.query("update posthaste.email_messages set attachments = $2 where id = $1", [
      file,
      JSON.stringify([
        { filename: `${jane}.pdf`, content_type: "application/pdf", storage_ref: "folder:a.pdf" },
      ]),
    ]);
    await insert(pool, { recipients: [`${jane}, bob@shop.example`], reply_to: [jane] });
    await enqueue(pool, { recipient: jane });
    await enqueue(pool, {
      recipient: "bob@shop.example",
      cc: [shouted],
      reply_to: [jane],
      parameters: { jane },
    });
    const refused = await claimed(pool, { recipient: jane, cc: ["bob@shop.example"] });
    await record(pool, refused, {
      kind: "failed", phase: "rcpt", smtp_code: 550, error_code: "recipient_refused", error_message: `rcpt: 550 <${jane}> unknown`,
      accepted: [2], refused: { 1: { code: 550, enhanced: "5.1.1", text: `<${jane.toUpperCase()}>: unknown` } }, provider_response: `250 to ${jane}`,
    }); // biome-ignore format: one outcome
    const acting = await pool.connect();
    await acting.query("select set_config('posthaste.actor', $1, false)", [jane]);
    await acting.query("select posthaste.pause('default', $1)", [`asked by ${jane}`]);
    await acting.query("select posthaste.resume('default')").catch(() => undefined);
    acting.release(true);
    assert.ok((await linesWith(pool, jane)).length >= 20);

    const done = await erase(`Jane <${jane.toUpperCase()}>`);
    assert.deepEqual({ ...done, ended: 0, elsewhere: 0 }, { ...NOTHING, waiting: 1, cancelled: 1 });
    assert.ok(done.ended >= 7 && done.elsewhere >= 1);
    assert.deepEqual(await linesWith(pool, jane), []);
    assert.deepEqual(await linesWith(pool, "Jane Doe"), []);
    assert.deepEqual(await erase(jane), NOTHING, "and a second time does nothing");
  });

  test("of mail to that person alone takes parameters, subject, headers and files; counts and causes stay", async () => {
    const jane = person();
    const storage_ref = "folder:erased/invoice.pdf";
    const id = await sent({
      recipient: `Jane Doe <${jane}>`,
      parameters: { name: "Jane" },
      headers: { "X-Token": "secret" },
    });
    const attachments = [
      { filename: "a.pdf", content_type: "application/pdf", storage_ref, owned: true },
      { filename: "b.pdf", content_type: "application/pdf", storage_ref: "folder:terms.pdf" },
    ];
    await pool.query("update posthaste.email_messages set attachments = $2 where id = $1", [
      id,
      JSON.stringify(attachments),
    ]);
    const both = await sent({ recipients: [jane, "bob@shop.example"], parameters: { name: "Jane" } });
    const before = await mail(pool, id);
    assert.equal((await erase(jane)).files, 1);
    const hash = await hashOf(jane);
    const after = await mail(pool, id);
    assert.deepEqual(after, {
      ...before,
      recipients: [hash],
      delivered_to: [hash],
      parameters: {},
      subject: null,
      headers: {},
      attachments: [],
      secrets_removed_at: after.secrets_removed_at,
    });
    assert.deepEqual(
      await database.query(
        "select storage_ref from posthaste_private.orphan_files where storage_ref like 'folder:%'",
      ),
      [{ storage_ref }],
    );
    assert.deepEqual(
      await database.query("select address from posthaste_private.recipient_index where email_id = $1", [id]),
      [{ address: hash }],
    );
    const shared = await mail(pool, both);
    assert.deepEqual(
      [shared.recipients, shared.parameters, shared.subject],
      [[hash, "bob@shop.example"], { name: "Jane" }, "Yours"],
    );
    assert.deepEqual((await mail(pool, both)).delivered_to.toSorted(), [hash, "bob@shop.example"].toSorted());
    await erase("bob@shop.example");
    assert.deepEqual((await mail(pool, both)).parameters, {}, "nobody is left whose mail it is");
  });

  test("of failed mail to that person alone leaves a record that no retry can make mail of", async () => {
    const jane = person();
    const lease = await claimed(pool, { recipient: jane });
    await record(pool, lease, { kind: "failed", error_code: "message_refused", smtp_code: 554 });
    await erase(jane);
    assert.equal((await errorOf(pool.query("select posthaste.retry($1)", [lease.id]))).code, "PH023");
  });

  test("takes a person out of waiting mail, which goes on for the others under the same places", async () => {
    const [jane, bob] = [person(), person("bob")];
    const id = await enqueue(pool, {
      recipients: [`Jane <${jane}>`, bob],
      reply_to: [jane, "help@shop.example"],
    });
    assert.deepEqual(await erase(jane), { ...NOTHING, waiting: 1 });
    const hash = await hashOf(jane);
    const row = await mail(pool, id);
    assert.deepEqual(
      [row.status, row.recipients, row.reply_to],
      ["PENDING", [hash, bob], ["help@shop.example"]],
    );
    assert.deepEqual(row.refused, { [hash]: { code: null, enhanced: null, text: "erased" } });
    const lease = await again(pool, id);
    await record(pool, lease, { kind: "sent", accepted: [2], phase: "final_dot" });
    const after = await mail(pool, id);
    assert.deepEqual([after.status, after.delivered_to], ["SENT", [bob]]);
  });

  test("cancels waiting mail that nobody else is in; what others have received already is SENT", async () => {
    const [jane, bob] = [person(), person("bob")];
    const alone = await enqueue(pool, {
      recipient: jane,
      cc: [jane.toUpperCase()],
      parameters: { name: "Jane" },
    });
    const lease = await claimed(pool, { recipients: [bob, jane] });
    await record(pool, lease, later({ accepted: [1], error_message: `rcpt: 451 ${jane} later` }));
    assert.deepEqual(await erase(jane), { ...NOTHING, cancelled: 2 });
    const row = await mail(pool, alone);
    assert.deepEqual([row.status, row.error_code, row.parameters], ["CANCELLED", "cancelled", {}]);
    const partly = await mail(pool, lease.id);
    assert.deepEqual([partly.status, partly.delivered_to], ["SENT", [bob]]);
    const [attempt] = await attemptsOf(pool, lease.id);
    assert.equal(attempt.error_message, `rcpt: 451 ${await hashOf(jane)} later`);
  });

  test("leaves mail that is being sent as it is, says so, and takes it the next time", async () => {
    const jane = person();
    const lease = await claimed(pool, { recipient: jane, idempotency_key: `hello:${jane}` });
    const before = await mail(pool, lease.id);
    assert.deepEqual(await erase(jane), { ...NOTHING, in_flight: 1 });
    assert.deepEqual(await mail(pool, lease.id), before);
    await record(pool, lease, { kind: "sent", accepted: [1], phase: "final_dot" });
    assert.deepEqual(await erase(jane), { ...NOTHING, ended: 1 });
    assert.deepEqual(await linesWith(pool, jane), []);
  });

  test("erases the archive too", async () => {
    const jane = person();
    const lease = await claimed(pool, { recipient: `Jane <${jane}>`, parameters: { name: "Jane" } });
    await record(pool, lease, {
      kind: "failed",
      error_code: "message_refused",
      smtp_code: 554,
      error_message: `554 <${jane}>`,
    });
    await pool.query(
      "update posthaste.email_messages set created_at = now() - interval '1 year', finished_at = now() - interval '1 year' where id = $1",
      [lease.id],
    );
    await pool.query(
      "select posthaste_private.purge('FAILED', '90 days', true, '90 days', '-infinity', '00000000-0000-0000-0000-000000000000', 1000)",
    );
    assert.deepEqual(await erase(jane), { ...NOTHING, archived: 1 });
    const [row] = await database.query("select * from posthaste.email_archive where id = $1", [lease.id]);
    const hash = await hashOf(jane);
    assert.deepEqual([row.recipients, row.parameters, row.error_message], [[hash], {}, `554 <${hash}>`]);
    assert.equal(row.attempts[0].error_message, `554 <${hash}>`);
    assert.deepEqual(await linesWith(pool, jane), []);
  });

  test("does not touch another person whose address contains this one, nor looks like it", async () => {
    const jane = person();
    const others = [`mary.${jane}`, `mary+${jane}`, `${jane}.org`, `${jane}-x.org`, jane.replace("-", "_")];
    const ids = await Promise.all(others.map((other) => sent({ recipient: other, parameters: { other } })));
    const before = await Promise.all(ids.map((id) => mail(pool, id)));
    assert.deepEqual(await erase(jane), NOTHING);
    assert.deepEqual(await Promise.all(ids.map((id) => mail(pool, id))), before);
  });

  test("reads every character of an address as itself", async () => {
    const odd = `o'b.r+x{1}*%_$^|-${randomUUID().slice(0, 8)}@a-b.example`;
    const id = await sent({
      recipient: odd,
      parameters: { link: `https://shop.example/?m=${encodeURIComponent(odd)}`, odd },
      cc: ["bob@shop.example"],
    });
    assert.equal((await erase(odd)).ended, 1);
    const hash = await hashOf(odd);
    const { recipients, parameters } = await mail(pool, id);
    assert.deepEqual(recipients, [hash]);
    assert.equal((parameters as { odd: string }).odd, hash);
  });

  test("takes what a server says about an internationalised address under its other name", async () => {
    const address = `jane-${randomUUID().slice(0, 8)}@bücher.example`;
    const lease = await claimed(pool, { recipient: address, cc: ["bob@shop.example"] });
    const wire = address.replace("bücher", "xn--bcher-kva");
    await record(pool, lease, {
      kind: "failed",
      error_code: "message_refused",
      smtp_code: 554,
      error_message: `554 <${wire}>: no`,
    });
    await erase(address);
    assert.equal((await mail(pool, lease.id)).error_message, `554 <${await hashOf(address)}>: no`);
    assert.deepEqual(await linesWith(pool, wire), []);
  });

  test("goes on with the rest in the next call when there is more than `max`", async () => {
    const jane = person();
    for (let n = 0; n < 3; n++) await enqueue(pool, { recipient: jane });
    const call = "select * from posthaste.erase_recipient($1, max => 2)";
    const [first, second] = [await database.query(call, [jane]), await database.query(call, [jane])];
    assert.deepEqual(
      [first[0], second[0]],
      [
        { ...NOTHING, cancelled: 2, more: true },
        { ...NOTHING, cancelled: 1 },
      ],
    );
  });

  test("with dry_run only counts", async () => {
    const jane = person();
    const id = await enqueue(pool, { recipient: jane });
    const before = await mail(pool, id);
    const [counted] = await database.query("select * from posthaste.erase_recipient($1, dry_run => true)", [
      jane,
    ]);
    assert.deepEqual(counted, { ...NOTHING, waiting: 1 });
    assert.deepEqual(await mail(pool, id), before);
  });

  test("keeps one hash for one address, and another for any other database", async () => {
    const jane = person();
    assert.match(await hashOf(jane), /^[0-9a-f]{32}@erased\.invalid$/);
    const [{ same }] = await database.query(
      "select posthaste_private.erased_address($1) = left(encode(sha256(convert_to('erased:' || $1, 'UTF8')), 'hex'), 32) || '@erased.invalid' as same",
      [jane],
    );
    assert.equal(same, false, "without the key nobody can try addresses");
  });

  test("is recorded without the address, and is for operators and the owner alone", async () => {
    const jane = person();
    await enqueue(pool, { recipient: jane });
    await erase(jane);
    const [action] = await database.query(
      "select * from posthaste.operator_actions order by at desc, id desc limit 1",
    );
    assert.deepEqual([action.action, action.emails, action.outcomes.cancelled], ["erase_recipient", 1, 1]);
    for (const role of ["posthaste_producer", "posthaste_viewer"] as const) {
      assert.equal((await errorOf(erase(jane, database.as(role)))).code, "42501", role);
    }
    for (const wrong of ["", "jane", "@", "a@b@c", "a b@c.test", "x@erased.invalid"]) {
      assert.equal((await errorOf(erase(wrong))).code, "PH007", wrong);
    }
  });
});
