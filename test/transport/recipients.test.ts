import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { judge } from "../../src/transport/verdict.ts";
import type { Context } from "../smtp-server.ts";
import { mail, serverAndTransport } from "./sending.ts";

const TIMES = { timeout: 20_000 };
const REPLIES: Record<string, string> = {
  later: "450 4.2.0 Greylisted, try again in 300 seconds",
  unknown: "550 5.1.1 No such user",
  full: "452 4.2.2 Mailbox full",
  many: "452 4.5.3 Too many recipients",
};
const byName = ({ address }: Context) => REPLIES[address.split("@")[0] ?? ""];
const to = (...names: string[]) => ({ to: names.map((name) => `${name}@x.test`) });
const addresses = (list: readonly { address: string }[]) => list.map(({ address }) => address.split("@")[0]);

for (const pipelining of [false, true]) {
  suite(`recipients, ${pipelining ? "with" : "without"} PIPELINING`, TIMES, () => {
    test("that are accepted get the mail although others are refused or put off", async (t) => {
      const { server, transport } = await serverAndTransport(t, { pipelining, script: { rcpt: byName } });
      const report = await transport.send(mail("1", to("unknown", "ada", "later", "bob", "full")));
      assert.deepEqual(report.accepted, ["ada@x.test", "bob@x.test"]);
      assert.deepEqual(server.accepted[0]?.recipients, ["ada@x.test", "bob@x.test"]);
      const verdict = judge(report);
      assert.deepEqual(addresses(verdict.refused), ["unknown"]);
      assert.deepEqual(addresses(verdict.deferred), ["later", "full"]);
      assert.deepEqual(
        [verdict.class, verdict.outcome, verdict.errorCode],
        ["RECIPIENT", "retry", "recipient_deferred"],
      );
      assert.equal(verdict.waitSeconds, 3600);
    });

    test("that are refused for good beside accepted ones do not keep the mail open", async (t) => {
      const { transport } = await serverAndTransport(t, { pipelining, script: { rcpt: byName } });
      const verdict = judge(await transport.send(mail("1", to("ada", "unknown"))));
      assert.deepEqual(
        [verdict.class, verdict.outcome, verdict.errorCode],
        ["OK", "sent", "recipient_refused"],
      );
      assert.equal(verdict.refused[0]?.reply.enhanced, "5.1.1");
    });

    test("that are all refused with mixed replies are each judged by their own", async (t) => {
      const { server, transport } = await serverAndTransport(t, { pipelining, script: { rcpt: byName } });
      const report = await transport.send(mail("1", to("unknown", "later")));
      assert.equal(report.handedOver, false);
      const verdict = judge(report);
      assert.deepEqual(addresses(verdict.refused), ["unknown"]);
      assert.deepEqual(addresses(verdict.deferred), ["later"]);
      assert.deepEqual([verdict.outcome, verdict.refund, verdict.waitSeconds], ["retry", false, 300]);
      assert.equal(server.accepted.length, 0);
    });

    test("that are all refused for good end the mail", async (t) => {
      const { transport } = await serverAndTransport(t, { pipelining, script: { rcpt: byName } });
      const verdict = judge(await transport.send(mail("1", to("unknown"))));
      assert.deepEqual(
        [verdict.class, verdict.outcome, verdict.errorCode, verdict.breaker],
        ["RECIPIENT", "failed", "recipient_refused", "close"],
      );
    });

    test("that are too many for one transaction go in the next, at no cost", async (t) => {
      const { transport } = await serverAndTransport(t, { pipelining, script: { rcpt: byName } });
      const verdict = judge(await transport.send(mail("1", to("ada", "many"))));
      assert.deepEqual([verdict.outcome, verdict.refund, verdict.waitSeconds], ["retry", true, 10]);
    });

    test("that were refused before the connection broke are reported", async (t) => {
      const script = { rcpt: (context: Context) => byName(context) ?? ({ end: "close" } as const) };
      const { transport } = await serverAndTransport(t, { pipelining, script });
      const report = await transport.send(mail("1", to("unknown", "ada")));
      assert.equal(report.failure?.kind, "connection");
      assert.deepEqual(addresses(report.rejected), ["unknown"]);
      assert.equal(judge(report).class, "HOST");
    });
  });
}

suite("an address that needs SMTPUTF8", TIMES, () => {
  test("is sent to where the server offers it", async (t) => {
    const { server, transport } = await serverAndTransport(t, { smtpUtf8: true });
    const report = await transport.send(mail("1", { to: ["zoë@x.test"] }));
    assert.deepEqual(report.accepted, ["zoë@x.test"]);
    assert.match(server.sessions[0]?.commands[1] ?? "", /^MAIL .*SMTPUTF8/);
  });

  test("is refused here where the server does not, and the others get the mail", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    const report = await transport.send(mail("1", { to: ["zoë@x.test", "ada@x.test"] }));
    assert.deepEqual(report.accepted, ["ada@x.test"]);
    assert.equal(report.rejected[0]?.reply.enhanced, "5.6.7");
    assert.doesNotMatch(server.sessions[0]?.commands.join() ?? "", /zo/);
    assert.equal(judge(report).outcome, "sent");
  });

  test("alone ends the mail before MAIL", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    const report = await transport.send(mail("1", { to: ["zoë@x.test"] }));
    const verdict = judge(report);
    assert.deepEqual([verdict.outcome, verdict.errorCode], ["failed", "smtputf8_unsupported"]);
    assert.equal(verdict.refused.length, 1);
    assert.equal(server.sessions[0]?.commands.length, 1);
  });

  test("as the sender ends the mail", async (t) => {
    const { transport } = await serverAndTransport(t);
    const verdict = judge(await transport.send(mail("1", { from: "zoë@x.test" })));
    assert.deepEqual([verdict.outcome, verdict.errorCode], ["failed", "smtputf8_unsupported"]);
  });
});

suite("SIZE", TIMES, () => {
  test("is told to the server, and a message within it is sent", async (t) => {
    const { server, transport } = await serverAndTransport(t, { size: 1000 });
    assert.equal((await transport.send(mail("1"))).failure, null);
    assert.match(server.sessions[0]?.commands[1] ?? "", /^MAIL .* SIZE=\d+$/);
  });

  test("is known before MAIL: a larger message is not begun, and the connection stays", async (t) => {
    const { server, transport } = await serverAndTransport(t, { size: 1000 });
    const report = await transport.send(mail("1", { body: "x".repeat(2000) }));
    const verdict = judge(report);
    assert.deepEqual(
      [verdict.outcome, verdict.errorCode, verdict.breaker],
      ["failed", "message_too_large", "close"],
    );
    assert.equal((await transport.send(mail("2"))).failure, null);
    assert.deepEqual(
      server.sessions.map(({ commands }) => commands.filter((line) => line.startsWith("MAIL")).length),
      [1],
    );
  });
});
