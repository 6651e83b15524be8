import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { maskOf } from "../../src/transport/mask.ts";
import { judge } from "../../src/transport/verdict.ts";
import type { Script } from "../smtp-server.ts";
import { mail, serverAndTransport } from "./sending.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const PASSWORD = "p@ss w/ürd+1";
const url = (plain: string) => plain.replace("//", `//shop:${encodeURIComponent(PASSWORD)}@`);

suite("a server that repeats the credentials", { timeout: 20_000 }, () => {
  const echo = `you said ${PASSWORD}, ${base64(PASSWORD)}, ${base64(`\0shop\0${PASSWORD}`)}`;
  const scripts: Readonly<Record<string, Script>> = {
    greeting: { greeting: `554 5.7.1 ${echo}` },
    "AUTH, in one line": { auth: `535 5.7.8 ${echo}` },
    "AUTH, in several": { auth: `535-5.7.8 no\r\n535-5.7.8 ${echo}\r\n535 5.7.8 go` },
    "AUTH, where it would be cut in two": { auth: `535 5.7.8 ${"x".repeat(485)} ${echo}` },
    "AUTH, in no reply of SMTP": { auth: `999 ${echo}` },
    MAIL: { mail: `451 4.3.0 ${echo}` },
    RCPT: { rcpt: `550 5.1.1 ${echo}` },
    DATA: { data: `554 5.7.1 ${echo}` },
    "the dot": { dot: `554 5.7.1 ${echo}` },
    "the dot, with a yes": { dot: { reply: `250 2.0.0 ${echo}`, keep: true } },
  };
  for (const [place, script] of Object.entries(scripts)) {
    for (const method of ["PLAIN", "LOGIN"]) {
      test(`after ${place} by ${method} is reported without them`, async (t) => {
        const { transport } = await serverAndTransport(
          t,
          { login: `shop:${PASSWORD}`, script },
          { url: (plain) => `${url(plain)}?authMethod=${method}` },
        );
        const report = await transport.send(mail("1"));
        const told = JSON.stringify([report, judge(report)]);
        assert.match(told, /xxx|you said \*\*\*, \*\*\*, \*\*\*/);
        assert.doesNotMatch(told, /p@ss|…@ss|w\/|ürd|cEBzc3/, told);
      });
    }
  }
});

test("a password is masked in other letters, percent-encoded, and without its padding", () => {
  const mask = maskOf({ user: "shop", pass: "Secret1!?", method: null });
  assert.equal(mask("SECRET1!? Secret1!%3F secret1!?s"), "*** *** ***s");
  assert.equal(mask(base64("Secret1!?").replace(/=+$/, "")), "***");
});

test("a password of a few letters is masked where it stands alone, and tears no other word to pieces", () => {
  const mask = maskOf({ user: "shop", pass: "a", method: null });
  const said = "Invalid login: 535 5.7.8 Authentication failed for shop: a";
  assert.equal(mask(said), "Invalid login: 535 5.7.8 Authentication failed for shop: ***");
  assert.equal(mask(`got ${base64("\0shop\0a")}`), "got ***");
});

test("the name of the user is no secret", () => {
  const mask = maskOf({ user: "shop@shop.example", pass: "hunter2", method: null });
  assert.equal(mask("535 shop@shop.example: hunter2 is wrong"), "535 shop@shop.example: *** is wrong");
});
