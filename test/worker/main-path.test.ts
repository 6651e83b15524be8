import assert from "node:assert/strict";
import { test } from "node:test";
import { simpleParser } from "mailparser";
import { startScene } from "../faults/scene.ts";
import type { Context } from "../smtp-server.ts";

test("a committed mail is sent once, and envelope, headers, text and HTML are what its row says", async (t) => {
  const scene = await startScene(t);
  await scene.here();
  const id = await scene.enqueue({ parameters: { n: 7 } });
  const row = await scene.until(id, "SENT");
  const message = await scene.server.nextMessage();
  assert.equal(message.from, "no-reply@shop.example");
  assert.deepEqual(message.recipients, ["ada@customer.example"]);
  const mail = await simpleParser(message.raw);
  assert.equal(mail.subject, "Number 7");
  assert.equal(row.subject, "Number 7");
  assert.equal(mail.messageId, row.message_id);
  assert.equal(mail.headers.get("x-posthaste-id"), id);
  assert.equal(mail.headers.get("auto-submitted"), "auto-generated");
  assert.equal(mail.from?.text, '"Shop" <no-reply@shop.example>');
  assert.match(mail.text ?? "", /This is number 7\./);
  assert.match(String(mail.html), /<p>This is number (<!-- -->)?7/);
  assert.equal(row.transport_used, "default");
  assert.match(row.provider_response, /queued/);
  assert.match(row.template_version, /^[0-9a-f]{16}$/);
  const attempts = await scene.attempts(id);
  assert.deepEqual(
    attempts.map(({ number, outcome, error_code }) => [number, outcome, error_code]),
    [[1, "sent", null]],
  );
  await scene.verify();
});

test("nothing of a transaction or a savepoint that was rolled back reaches the mail server", async (t) => {
  const scene = await startScene(t);
  await scene.here();
  const client = await scene.database.pool.connect();
  const enqueue = "select posthaste.enqueue('plain', $1, '{\"n\": 1}')";
  await client.query("begin");
  await client.query(enqueue, ["rolled-back@customer.example"]);
  await client.query("rollback");
  await client.query("begin");
  await client.query("savepoint inner_step");
  await client.query(enqueue, ["undone@customer.example"]);
  await client.query("rollback to savepoint inner_step");
  await client.query(enqueue, ["kept@customer.example"]);
  await client.query("commit");
  client.release();
  await scene.drained();
  assert.deepEqual(
    scene.server.sessions.flatMap(({ commands }) => commands.filter((line) => line.startsWith("RCPT"))),
    ["RCPT TO:<kept@customer.example>"],
  );
  await scene.verify();
});

test("everything that a request can say is in the message, and blind copies are in the envelope alone", async (t) => {
  const scene = await startScene(t, {
    templates: {
      "shop/invoice.tsx": `
        export const subject = ({ total, locale }) => "Rechnung über " + total + " (" + locale + ")";
        export default ({ name }) => <html><body>Grüezi {name}</body></html>;`,
    },
    options: { transports: { default: { url: "smtp://replaced.example" } } },
  });
  await scene.here({
    options: {
      transports: { default: { url: scene.server.url, idempotencyHeader: "Resend-Idempotency-Key" } },
    },
  });
  const id = await scene.enqueue({
    template: "shop/invoice",
    recipient: '"Müller, Änne" <aenne@bücher.example>',
    recipients: ["Second Person <second@customer.example>"],
    cc: ["copy@customer.example"],
    bcc: ["blind@customer.example"],
    reply_to: ["Support <support@shop.example>"],
    from_address: "Buchhaltung <billing@shop.example>",
    locale: "de-CH",
    parameters: { total: "12 €", name: "Änne" },
    headers: {
      "X-Campaign": "spring",
      "List-Unsubscribe": "<https://shop.example/u/1>",
      References: "<a@b.example>",
    },
  });
  await scene.until(id, "SENT");
  const message = await scene.server.nextMessage();
  assert.equal(message.from, "billing@shop.example");
  assert.deepEqual(message.recipients, [
    "aenne@xn--bcher-kva.example",
    "second@customer.example",
    "copy@customer.example",
    "blind@customer.example",
  ]);
  assert.doesNotMatch(message.raw.toString(), /blind@/);
  assert.match(message.raw.toString(), /<aenne@xn--bcher-kva\.example>/);
  const mail = await simpleParser(message.raw);
  assert.equal(mail.subject, "Rechnung über 12 € (de-CH)");
  assert.match(mail.text ?? "", /Grüezi Änne/);
  assert.equal(mail.from?.text, '"Buchhaltung" <billing@shop.example>');
  const [to] = [mail.to].flat();
  assert.deepEqual(
    to?.value.map(({ name, address }) => [name, address]),
    [
      ["Müller, Änne", "aenne@bücher.example"],
      ["Second Person", "second@customer.example"],
    ],
  );
  assert.equal([mail.cc].flat()[0]?.text, "copy@customer.example");
  assert.equal(mail.replyTo?.text, '"Support" <support@shop.example>');
  assert.equal(mail.headers.get("x-campaign"), "spring");
  assert.match(message.raw.toString(), /^List-Unsubscribe: <https:\/\/shop\.example\/u\/1>\r$/m);
  assert.equal(mail.references, "<a@b.example>");
  assert.equal(mail.headers.get("resend-idempotency-key"), id);
  await scene.verify();
});

test("the Message-ID is the same on every attempt", async (t) => {
  const scene = await startScene(t);
  let tries = 0;
  scene.server.script.dot = () => (++tries < 3 ? { reply: "451 4.3.0 Not now", keep: true } : undefined);
  await scene.here();
  const id = await scene.enqueue({ parameters: { n: 1 } });
  const row = await scene.until(id, "SENT");
  const ids = scene.server.accepted.map(({ messageId }) => messageId);
  assert.deepEqual(ids, [row.message_id, row.message_id, row.message_id]);
  assert.equal(row.attempt_count, 3);
  assert.equal(row.possible_duplicate, false, "the server has said each time that it did not take it");
});

test("what one server accepted is recorded while the next mail in flight is not answered at all", async (t) => {
  const scene = await startScene(t);
  scene.server.script.dot = ({ session }: Context) =>
    session.commands.some((line) => line.includes("silent@")) ? {} : undefined;
  const { stop } = await scene.here({ options: { shutdownGrace: "100ms" } });
  const silent = await scene.enqueue({ recipient: "silent@customer.example", parameters: { n: 1 } });
  await scene.server.reached("dot");
  const answered = await scene.enqueue({ parameters: { n: 2 } });
  await scene.until(answered, "SENT");
  assert.equal((await scene.row(silent)).status, "SENDING");
  await stop();
  const row = await scene.row(silent);
  assert.deepEqual(
    [row.status, row.error_code, row.possible_duplicate],
    ["PENDING", "outcome_unknown", true],
  );
});

test("the log tells of each mail by its id, and never shows an address, a parameter or a subject", async (t) => {
  const scene = await startScene(t, {
    templates: {
      "broken.tsx": "export default () => { throw new Error('secret-word of ada@customer.example') }",
    },
  });
  scene.server.script.rcpt = ({ address }: Context) =>
    address.startsWith("nobody") ? `550 5.1.1 <${address}> unknown` : undefined;
  const { log } = await scene.here();
  const parameters = { n: "secret-word" };
  const [sent, refused, broken, missing] = await Promise.all([
    scene.enqueue({ parameters, idempotency_key: "order:1" }),
    scene.enqueue({ parameters, recipient: "nobody@customer.example" }),
    scene.enqueue({ parameters, template: "broken" }),
    scene.enqueue({ parameters, template: "missing" }),
  ]);
  const line = await log.line("email_sent", ({ id }) => id === sent);
  assert.deepEqual([line.key, line.template, line.level], ["order:1", "plain", "info"]);
  for (const [id, code] of [
    [refused, "recipient_refused"],
    [broken, "render_failed"],
    [missing, "template_not_found"],
  ]) {
    const failed = await log.line("email_failed", (each) => each.id === id);
    assert.deepEqual([failed.code, failed.level, failed.attempts], [code, "error", 1]);
  }
  assert.doesNotMatch(log.text, /@|secret-word|customer\.example|Number/);
  await scene.verify();
});
