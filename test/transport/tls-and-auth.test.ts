import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { refuseLogin } from "../../src/transport/login.ts";
import { failedReport } from "../../src/transport/report.ts";
import { judge } from "../../src/transport/verdict.ts";
import { CERTIFICATE } from "../smtp-certificate.ts";
import type { SmtpServer, SmtpServerOptions } from "../smtp-server.ts";
import { mail, serverAndTransport } from "./sending.ts";

const TIMES = { timeout: 20_000 };
const LOGIN = { login: "user:hunter2" };
const TRUSTED = `tls.ca=${encodeURIComponent(CERTIFICATE)}`;
const as = (query: string) => ({ url: (url: string) => `${url.replace("//", "//user:hunter2@")}?${query}` });

function said(server: SmtpServer): string {
  return server.sessions.flatMap(({ commands }) => commands).join("\n");
}

suite("TLS", TIMES, () => {
  test("is used where it is offered, before the password", async (t) => {
    const { server, transport } = await serverAndTransport(t, { ...LOGIN, startTls: true }, as(TRUSTED));
    assert.equal((await transport.send(mail("1"))).failure, null);
    const commands = server.sessions[0]?.commands.map((line) => line.split(" ")[0]);
    assert.deepEqual(commands?.slice(0, 4), ["EHLO", "STARTTLS", "EHLO", "AUTH"]);
    assert.equal(server.sessions[0]?.secure, true);
  });

  test("is there from the first octet with smtps", async (t) => {
    const { server, transport } = await serverAndTransport(t, { ...LOGIN, secure: true }, as(TRUSTED));
    assert.equal((await transport.send(mail("1"))).failure, null);
    assert.equal(server.sessions[0]?.login, "user:hunter2");
  });

  const broken: [string, SmtpServerOptions, string, string, string][] = [
    ["a certificate that nobody signed, on STARTTLS", { startTls: true }, "", "CONFIG", "ECERTIFICATE"],
    ["a certificate that nobody signed, on smtps", { secure: true }, "", "CONFIG", "ECERTIFICATE"],
    ["a server without STARTTLS where it is required", {}, "requireTLS=true", "CONFIG", "ETLS"],
    [
      "STARTTLS 454",
      { startTls: true, script: { starttls: "454 4.7.0 TLS not available" } },
      "",
      "HOST",
      "ETLS",
    ],
    [
      "a close in the handshake",
      { startTls: true, script: { starttls: { raw: "220 Go\r\n", end: "close" } } },
      "",
      "HOST",
      "ECONNRESET",
    ],
  ];
  for (const [what, options, query, verdictClass, code] of broken) {
    test(`fails as ${verdictClass} on ${what}, and says neither password nor mail`, async (t) => {
      const { server, transport } = await serverAndTransport(t, { ...LOGIN, ...options }, as(query));
      const report = await transport.send(mail("1"));
      assert.equal(report.phase, "tls");
      assert.equal(report.failure?.kind, "tls");
      assert.equal(report.failure?.code, code);
      assert.equal(judge(report).class, verdictClass);
      assert.doesNotMatch(said(server), /AUTH|MAIL/);
      assert.doesNotMatch(judge(report).message, /hunter2/);
      await server.quiet();
    });
  }

  test("fails as CONFIG when smtps meets a port that does not speak TLS", async (t) => {
    const { transport } = await serverAndTransport(t, LOGIN, {
      url: (url) => url.replace("smtp:", "smtps:"),
    });
    const verdict = judge(await transport.send(mail("1")));
    assert.equal(verdict.class, "CONFIG");
    assert.equal(
      verdict.message,
      "tls: the server does not speak TLS there; use smtp://, or the port for smtps",
    );
  });

  test("does not begin with what was injected in clear before it", async (t) => {
    const script = { starttls: { raw: "220 Go\r\n250-x\r\n250 AUTH PLAIN\r\n" } };
    const { server, transport } = await serverAndTransport(
      t,
      { ...LOGIN, startTls: true, script },
      { ...as(TRUSTED), timeouts: { connect: 200 } },
    );
    const report = await transport.send(mail("1"));
    assert.equal(report.phase, "tls");
    assert.doesNotMatch(said(server), /AUTH/);
  });

  for (const [secure, address, allowed] of [
    [true, "192.0.2.1", true],
    [false, "127.0.0.1", true],
    [false, "::1", true],
    [false, "::ffff:127.0.0.1", true],
    [false, "192.0.2.1", false],
    [false, "::ffff:192.0.2.1", false],
    [false, "2001:db8::1", false],
    [false, "::127.0.0.1", false],
    [false, undefined, false],
  ] as const) {
    test(`${secure ? "present" : "absent"}, the password may ${allowed ? "" : "not "}go to ${address}`, () => {
      const refused = refuseLogin({ secure, allowsAuth: true }, address, "mail.example");
      assert.equal(refused === null, allowed);
      if (refused) assert.equal(judge(failedReport("tls", refused)).class, "CONFIG");
    });
  }
});

suite("AUTH", TIMES, () => {
  for (const method of ["PLAIN", "LOGIN"]) {
    test(`by ${method} logs in`, async (t) => {
      const { server, transport } = await serverAndTransport(t, LOGIN, as(`authMethod=${method}`));
      assert.equal((await transport.send(mail("1"))).failure, null);
      assert.equal(server.sessions[0]?.login, "user:hunter2");
    });

    test(`by ${method} with a wrong password is CONFIG, and the password is in no message`, async (t) => {
      const { transport } = await serverAndTransport(t, { login: "user:other" }, as(`authMethod=${method}`));
      const report = await transport.send(mail("1"));
      const verdict = judge(report);
      assert.equal(report.phase, "auth");
      assert.equal(report.failure?.kind, "auth");
      assert.deepEqual([verdict.class, verdict.breaker, verdict.refund], ["CONFIG", "open", true]);
      assert.equal(verdict.message.match(/535/g)?.length, 1, verdict.message);
      assert.doesNotMatch(JSON.stringify([report, verdict]), /hunter2|aHVudGVyMg/);
    });
  }

  test("that is sick at the server is HOST", async (t) => {
    const { transport } = await serverAndTransport(
      t,
      { ...LOGIN, script: { auth: "454 4.7.0 Backend away" } },
      as(""),
    );
    assert.equal(judge(await transport.send(mail("1"))).class, "HOST");
  });

  test("that is not offered is CONFIG: the mail is not sent without the login that was asked for", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, as(""));
    const report = await transport.send(mail("1"));
    assert.equal(report.failure?.code, "ENOAUTH");
    assert.equal(judge(report).class, "CONFIG");
    assert.doesNotMatch(said(server), /MAIL/);
  });
});
