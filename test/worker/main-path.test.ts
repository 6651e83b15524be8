import assert from "node:assert/strict";
import { test } from "node:test";
import { simpleParser } from "mailparser";
import { startScene } from "../faults/scene.ts";

test("a committed mail is sent once, as its row says", async (t) => {
  const scene = await startScene(t);
  await scene.here();
  const id = await scene.enqueue({ parameters: { n: 7 } });
  const row = await scene.until(id, "SENT");
  const message = await scene.server.nextMessage();
  assert.equal(message.from, "no-reply@shop.example");
  assert.deepEqual(message.recipients, ["ada@customer.example"]);
  const mail = await simpleParser(message.raw);
  assert.equal(mail.subject, "Number 7");
  assert.equal(row.message_id, mail.messageId);
  assert.match(mail.text ?? "", /This is number 7\./);
  await scene.verify();
});
