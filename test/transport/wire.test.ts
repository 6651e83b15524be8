import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { composeMessage, messageIdFor } from "../../src/message/compose.ts";
import { mail, serverAndTransport } from "./sending.ts";

suite("the wire", { timeout: 20_000 }, () => {
  test("carries each message octet for octet as it was composed, and no other, whatever its dots and line ends", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    const text = fc.string({
      unit: fc.constantFrom(".", "\r", "\n", "\r\n", "\r\n.\r\n", "MAIL FROM:<e@x.test>", "a", "ü", " "),
      maxLength: 40,
    });
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(text, text, async (body, html) => {
        const id = String(sent++);
        const message = await composeMessage({
          id,
          messageId: messageIdFor(id, "no@shop.example"),
          from: "no@shop.example",
          recipients: ["ada@customer.example"],
          cc: [],
          replyTo: [],
          subject: body,
          html,
          text: body,
          headers: { "X-Free": html },
          idempotencyHeader: null,
          date: new Date(0),
          attachments: [],
        });
        const report = await transport.send(mail(id, { message }));
        assert.equal(report.failure, null);
        const received = await server.nextMessage();
        assert.equal(received.messageId, `<${id}@shop.example>`);
        assert.doesNotMatch(received.raw.toString("latin1"), /\r(?!\n)|(?<!\r)\n/);
        const composed = Buffer.concat(await message.stream().toArray());
        // A message that does not end with a line end gets one from the dot.
        const expected = composed.toString("latin1").replace(/(?:\r\n)?$/, "\r\n");
        assert.equal(received.raw.toString("latin1"), expected);
      }),
      { numRuns: 150, interruptAfterTimeLimit: 5000 },
    );
    assert.equal(server.accepted.length, sent);
    assert.equal(server.sessions[0]?.commands.filter((line) => /^MAIL FROM:<e@/.test(line)).length, 0);
  });

  test("is fast enough to be a sink: 2,000 messages over ten connections", async (t) => {
    const { server, transport } = await serverAndTransport(t, { keepRaw: false });
    const ids = Array.from({ length: 2000 }, (_, index) => String(index));
    const reports = await Promise.all(ids.map((id) => transport.send(mail(id))));
    assert.ok(reports.every(({ failure }) => failure === null));
    assert.equal(new Set(server.accepted.map(({ messageId }) => messageId)).size, 2000);
    assert.ok(server.sessions.length >= 10);
  });
});
