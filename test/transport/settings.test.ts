import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PosthasteError } from "../../src/errors.ts";
import { createTransport } from "../../src/transport/transport.ts";
import { mail, PATIENT, serverAndTransport } from "./sending.ts";

suite("the settings", () => {
  const make = (url: string, connections = 1) =>
    createTransport("main", { url, connections, idempotencyHeader: null }, PATIENT);
  const wrong: [string, RegExp][] = [
    ["", /must begin with smtp/],
    ["mail.example:25", /must begin with smtp/],
    ["http://u:hunter2@mail.example", /must begin with smtp/],
    ["smtp://u:hunter2@", /URL|host/],
    ["smtp://u:hunter2@mail.example:99999", /a port of 1 to 65535/],
    ["smtp://u:hunter2@mail.example?requireTls=true", /no option "requireTls".*requireTLS/],
    ["smtp://u:hunter2@mail.example?secure=true", /no option "secure"/],
    ["smtp://u:hunter2@mail.example?requireTLS=yes", /requireTLS must be true or false/],
    ["smtp://u:hunter2@mail.example?maxMessages=0", /maxMessages must be a whole number/],
    ["smtp://u:hunter2@mail.example?authMethod=magic", /authMethod must be one of/],
    ["smtp://u:hunter2@mail.example?localAddress=here", /localAddress must be an IP/],
    ["smtp://u:hunter2@mail.example?tls.minVersion=hunter2", /tls/],
    ["smtp://:hunter2@mail.example", /both a user and a password/],
    ["smtp://hunter2@mail.example", /both a user and a password/],
  ];
  for (const [url, rule] of wrong) {
    test(`cannot be read from ${JSON.stringify(url)}, and the message says why without the password`, () => {
      assert.throws(
        () => make(url),
        (error: unknown) => {
          assert.ok(error instanceof PosthasteError);
          assert.match(error.message, /^transports\.main\.url/);
          assert.match(error.message, rule);
          assert.doesNotMatch(error.message, /hunter2/);
          assert.equal(error.cause, undefined);
          return true;
        },
      );
    });
  }

  test("cannot have fewer connections than one", () => {
    assert.throws(() => make("smtp://mail.example", 0), PosthasteError);
  });

  test("cannot name a header that is none", () => {
    const settings = { url: "smtp://mail.example", connections: 1, idempotencyHeader: "X: 1\r\nBcc" };
    assert.throws(() => createTransport("main", settings, PATIENT), PosthasteError);
  });

  for (const url of [
    "smtp://mail.example",
    "smtps://user:p%40ss%3A@mail.example",
    "smtp://[::1]:2525?requireTLS=true&tls.rejectUnauthorized=false&name=me.example",
  ]) {
    test(`can be read from ${url}`, async () => {
      await make(url).close();
    });
  }

  test("send a password with special characters as it is", async (t) => {
    const { server, transport } = await serverAndTransport(
      t,
      { login: "me@x.test:p@s:s%é" },
      {
        url: (url) =>
          url.replace("//", `//${encodeURIComponent("me@x.test")}:${encodeURIComponent("p@s:s%é")}@`),
      },
    );
    assert.equal((await transport.send(mail("1"))).failure, null);
    assert.equal(server.sessions[0]?.login, "me@x.test:p@s:s%é");
  });
});
