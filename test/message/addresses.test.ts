import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { parseMailbox } from "../../src/message/addresses.ts";

suite("a mailbox", () => {
  const good: [string, { name: string | null; address: string; wire: string; needsSmtpUtf8: boolean }][] = [
    [
      "ada@shop.example",
      { name: null, address: "ada@shop.example", wire: "ada@shop.example", needsSmtpUtf8: false },
    ],
    [
      "Ada L <ada@Shop.Example>",
      { name: "Ada L", address: "ada@Shop.Example", wire: "ada@shop.example", needsSmtpUtf8: false },
    ],
    [
      '"L, Ada \\"A\\"" <a+b@x.test>',
      { name: 'L, Ada "A"', address: "a+b@x.test", wire: "a+b@x.test", needsSmtpUtf8: false },
    ],
    ["L, Ada <a@x.test>", { name: "L, Ada", address: "a@x.test", wire: "a@x.test", needsSmtpUtf8: false }],
    ["<a@x.test>", { name: null, address: "a@x.test", wire: "a@x.test", needsSmtpUtf8: false }],
    [
      "a@bücher.example",
      { name: null, address: "a@bücher.example", wire: "a@xn--bcher-kva.example", needsSmtpUtf8: false },
    ],
    ["zoë@x.test", { name: null, address: "zoë@x.test", wire: "zoë@x.test", needsSmtpUtf8: true }],
    ["a@localhost", { name: null, address: "a@localhost", wire: "a@localhost", needsSmtpUtf8: false }],
  ];
  for (const [text, expected] of good) {
    test(`is read from ${JSON.stringify(text)}`, () => assert.deepEqual(parseMailbox(text), expected));
  }

  const bad = [
    "", "ada", "@x.test", "a@", "a@b@x.test", "a b@x.test", '"a b"@x.test', "a@x..test", "a@-x.test", "a@ä-.test", "a@-ä.test", "a@[127.0.0.1]",
    "a@127.0.0.1", "a@1.2", "a@１.２", "a.@x.test", ".a@x.test", "a@x.test, b@y.test", "a@x.test b@y.test", "Ada <a@x.test> b",
    "Ada\r\nBcc: v@x.test <a@x.test>", "a@x.test\n", "a@x.test\0", `${"a".repeat(65)}@x.test`, `a@${"b.".repeat(130)}test`,
    "group: a@x.test;", "a(comment)@x.test", "<@relay.test:a@x.test>", "a@x\u2028.test", "a@exam ple.test", "a%b@",
  ]; // biome-ignore format: a list
  for (const text of bad) {
    test(`is not read from ${JSON.stringify(text.slice(0, 40))}`, () =>
      assert.equal(parseMailbox(text), null));
  }

  test("never has white space, a bracket or a control character in its wire address, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.string({ maxLength: 10 }),
        (local, name) => {
          for (const text of [`${local}@x.test`, `${name} <${local}@x.test>`, `a@${local}.test`]) {
            const wire = parseMailbox(text)?.wire;
            if (wire !== undefined) assert.match(wire, /^[^\s<>(),;:\\"\p{Cc}@]+@[a-z0-9_.-]+$/u);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
