import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { type ParsedMail, simpleParser } from "mailparser";
import { composeMessage, type MessageInput, messageIdFor } from "../../src/message/compose.ts";

const input: MessageInput = {
  id: "0198c0de-0000-7000-8000-000000000001",
  messageId: "<0198c0de-0000-7000-8000-000000000001@shop.example>",
  from: "Shop <no-reply@shop.example>",
  recipients: ["Ada <ada@x.test>"],
  cc: [],
  replyTo: [],
  subject: "Hello",
  html: "<p>Hello</p>",
  text: "Hello",
  headers: {},
  idempotencyHeader: null,
  date: new Date("2026-11-30T12:00:00Z"),
  attachments: [],
};

async function octetsOf(changes: Partial<MessageInput> = {}): Promise<Buffer> {
  const message = await composeMessage({ ...input, ...changes });
  const octets = Buffer.concat(await message.stream().toArray());
  assert.equal(octets.length, message.size);
  return octets;
}

async function parsed(changes: Partial<MessageInput> = {}): Promise<ParsedMail> {
  return simpleParser(await octetsOf(changes));
}

/** What a reader may expect of a text: line ends as LF, no control characters, no halves of surrogate pairs. */
function readable(text: string): string {
  const lines = text.toWellFormed().replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n");
  return lines.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, "");
}

suite("a composed message", () => {
  test("carries its ids, says that a machine wrote it, and has text and HTML", async () => {
    const mail = await parsed({
      idempotencyHeader: "Resend-Idempotency-Key",
      replyTo: ["help@shop.example"],
    });
    assert.equal(mail.messageId, input.messageId);
    assert.equal(mail.headers.get("x-posthaste-id"), input.id);
    assert.equal(mail.headers.get("resend-idempotency-key"), input.id);
    assert.equal(mail.headers.get("auto-submitted"), "auto-generated");
    assert.equal(mail.replyTo?.text, "help@shop.example");
    assert.equal(mail.date?.toISOString(), "2026-11-30T12:00:00.000Z");
    assert.equal(mail.text?.trimEnd(), "Hello");
    assert.equal(mail.html, "<p>Hello</p>");
  });

  test("can be read again from its beginning for another try", async () => {
    const message = await composeMessage(input);
    const [one, two] = await Promise.all([message.stream().toArray(), message.stream().toArray()]);
    assert.deepEqual(one, two);
  });

  test("comes in pieces when it is long, so that a slow server can be told from a dead one", async () => {
    const message = await composeMessage({ ...input, text: "long\n".repeat(100_000) });
    assert.ok((await message.stream().toArray()).length > 5);
  });

  test("quotes names so that a comma or a bracket adds no recipient", async () => {
    const recipients = ['"a@evil.test, Eve <e@evil.test>" <ada@x.test>', "Bücher; x:y <b@bücher.example>"];
    const mail = await parsed({ recipients });
    const to = [mail.to ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address));
    assert.deepEqual(to, ["ada@x.test", "b@bücher.example"]);
  });

  test("lets allowed extra headers through, and no others", async () => {
    const mail = await parsed({
      idempotencyHeader: "X-Key",
      headers: {
        "X-Campaign": "7",
        "List-Unsubscribe": "<https://shop.example/u>",
        "In-Reply-To": "<a@shop.example>",
        Bcc: "victim@x.test",
        From: "evil@x.test",
        "Content-Type": "text/evil",
        "X-Evil: 1\r\nBcc": "victim@x.test",
        "x-posthaste-id": "forged",
        "x-key": "forged",
      },
    });
    assert.equal(mail.headers.get("x-campaign"), "7");
    assert.equal(mail.inReplyTo, "<a@shop.example>");
    assert.ok(mail.headers.has("list"));
    assert.equal(mail.headers.get("x-posthaste-id"), input.id);
    assert.equal(mail.headers.get("x-key"), input.id);
    assert.equal(mail.from?.text, '"Shop" <no-reply@shop.example>');
    assert.equal(mail.bcc, undefined);
    assert.equal(mail.headers.has("x-evil"), false);
  });

  test("turns control characters of the subject into spaces", async () => {
    assert.equal((await parsed({ subject: "Hi\r\nBcc: v@x.test\u2028\0x" })).subject, "Hi Bcc: v@x.test x");
  });

  test("has no line of more than 998 octets, however long the words of subject and names are", async () => {
    const long = "x".repeat(3000);
    const octets = await octetsOf({ subject: `${long} ${long}`, recipients: [`${long} <ada@x.test>`] });
    const lines = octets.toString("latin1").split("\r\n");
    assert.ok(Math.max(...lines.map(({ length }) => length)) <= 998);
  });

  test("cannot be made to read a file or a URL", async () => {
    const mail = await parsed({ text: "file:///etc/passwd", html: '<img src="file:///etc/passwd">' });
    assert.equal(mail.attachments.length, 0);
    assert.match(mail.text ?? "", /^file:/);
  });

  test("has no bare CR or LF, no further recipient, and reads back, whatever is in subject, bodies and headers", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.string({
        unit: fc.constantFrom("\r", "\n", ".", "\r\n", " ", "\0", "\u2028", "ü", "a", "\ud800", "<"),
        maxLength: 80,
      }),
      fc.string({ maxLength: 2500 }),
    );
    await fc.assert(
      fc.asyncProperty(text, text, text, text, async (subject, body, html, header) => {
        const octets = await octetsOf({
          subject,
          text: `.${body}.`,
          html: `<p>${html}`,
          headers: { "X-Free": header },
        });
        const latin = octets.toString("latin1");
        assert.doesNotMatch(latin, /\r(?!\n)|(?<!\r)\n|\0/);
        const mail = await simpleParser(octets);
        assert.equal(
          [mail.to ?? []]
            .flat()
            .map(({ text }) => text)
            .join(),
          '"Ada" <ada@x.test>',
        );
        assert.equal(mail.cc, undefined);
        assert.equal(mail.bcc, undefined);
        assert.equal(mail.messageId, input.messageId);
        assert.equal(mail.text?.replace(/\n$/, ""), readable(`.${body}.`).replace(/\n$/, ""));
      }),
      { numRuns: 300, interruptAfterTimeLimit: 6000 },
    );
  });
});

suite("a Message-ID", () => {
  test("is the id at the sender's domain in A-labels", () => {
    assert.equal(messageIdFor("42", "Shop <no@Bücher.example>"), "<42@xn--bcher-kva.example>");
  });
});
