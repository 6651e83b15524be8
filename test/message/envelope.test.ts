import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PosthasteError } from "../../src/errors.ts";
import { buildEnvelope } from "../../src/message/envelope.ts";

const input = {
  from: "Shop <no-reply@Bücher.example>",
  recipients: ["Ada <ada@x.test>"],
  cc: [] as string[],
  bcc: [] as string[],
  deliveredTo: [] as string[],
  refused: [] as string[],
  allowed: null,
};

suite("the envelope", () => {
  test("holds bare addresses with A-label domains, blind copies too", () => {
    const envelope = buildEnvelope({ ...input, cc: ["b@bücher.example"], bcc: ["zoë@x.test"] });
    assert.equal(envelope.from, "no-reply@xn--bcher-kva.example");
    assert.deepEqual(envelope.recipients, [
      { positions: [1], wire: "ada@x.test", needsSmtpUtf8: false },
      { positions: [2], wire: "b@xn--bcher-kva.example", needsSmtpUtf8: false },
      { positions: [3], wire: "zoë@x.test", needsSmtpUtf8: true },
    ]);
  });

  test("leaves out who was erased, also after a retry has forgotten who was refused", () => {
    const erased = "9631526b7353927c1aa54a30fee320dd@erased.invalid";
    const { recipients, unroutable } = buildEnvelope({ ...input, cc: [erased] });
    assert.deepEqual(
      recipients.map(({ positions }) => positions),
      [[1]],
    );
    assert.deepEqual(unroutable, [{ positions: [2], reason: "the recipient was erased", enhanced: "5.1.6" }]);
    assert.deepEqual(buildEnvelope({ ...input, cc: [erased], refused: [erased] }).unroutable, []);
  });

  test("leaves out who is not among the allowed recipients, however the address is written", () => {
    const envelope = buildEnvelope({
      ...input,
      recipients: ["Ada <ADA@x.test>", "b@y.test", "c@bücher.example", "d@sub.x.test"],
      allowed: ["@X.test", "@BÜCHER.example", "c@xn--bcher-kva.example"],
    });
    assert.deepEqual(
      envelope.recipients.map(({ positions }) => positions),
      [[1], [3]],
    );
    assert.deepEqual(
      envelope.unroutable.map(({ positions, enhanced }) => [...positions, enhanced]),
      [
        [2, "5.7.1"],
        [4, "5.7.1"],
      ],
    );
  });

  test("has an address that is listed several times once, with all its positions", () => {
    const envelope = buildEnvelope({ ...input, cc: ["ada@X.test"], bcc: ["Ada <ada@x.test>", "c@x.test"] });
    assert.deepEqual(
      envelope.recipients.map(({ positions }) => positions),
      [[1, 2, 3], [4]],
    );
  });

  test("leaves out who has the mail and who was refused, however the domain was written", () => {
    const recipients = ["a@bücher.example", "b@x.test", "c@x.test"];
    const envelope = buildEnvelope({
      ...input,
      recipients,
      deliveredTo: ["a@xn--bcher-kva.example"],
      refused: ["b@X.TEST"],
    });
    assert.deepEqual(
      envelope.recipients.map(({ wire }) => wire),
      ["c@x.test"],
    );
  });

  test("keeps the case of the local part: two mailboxes may differ by it", () => {
    assert.equal(buildEnvelope({ ...input, cc: ["ADA@x.test"] }).recipients.length, 2);
  });

  test("names what cannot be routed, and does not send to it", () => {
    const envelope = buildEnvelope({ ...input, cc: ["nobody"] });
    assert.deepEqual(
      envelope.unroutable.map(({ positions }) => positions),
      [[2]],
    );
    assert.equal(envelope.recipients.length, 1);
  });

  test("cannot be built without a sender", () => {
    assert.throws(() => buildEnvelope({ ...input, from: "shop" }), PosthasteError);
  });
});
