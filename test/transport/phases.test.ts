import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Timeouts } from "../../src/config.ts";
import { judge } from "../../src/transport/verdict.ts";
import type { Point } from "../smtp-server.ts";
import { granted, mail, serverAndTransport } from "./sending.ts";

const TIMES = { timeout: 20_000 };

/** Each point where a server can fall silent, the phase that a report gives it, and the clock that ends it. */
const POINTS: [Point, string, keyof Timeouts][] = [
  ["greeting", "connect", "greeting"],
  ["ehlo", "connect", "command"],
  ["starttls", "tls", "command"],
  ["auth", "auth", "command"],
  ["mail", "mail", "command"],
  ["rcpt", "rcpt", "command"],
  ["data", "data", "command"],
  ["dot", "final_dot", "finalReply"],
];
const OFFERS = { startTls: true, login: "user:pass" };
const url = (plain: string) => `${plain.replace("//", "//user:pass@")}?tls.rejectUnauthorized=false`;

for (const pipelining of [false, true]) {
  // Of commands that were sent together the earlier replies may be lost with the connection, so the phase may be earlier.
  const assertPhase = (actual: string, expected: string) => {
    const together = pipelining ? ["mail", "rcpt", "data"] : [];
    if (!together.includes(expected)) assert.equal(actual, expected);
    else assert.ok(together.slice(0, together.indexOf(expected) + 1).includes(actual), actual);
  };

  suite(`a server ${pipelining ? "with" : "without"} PIPELINING`, TIMES, () => {
    for (const [point, phase, clock] of POINTS) {
      const handedOver = point === "dot";

      test(`that says nothing at ${point} costs ${clock}, and the report says ${phase}`, async (t) => {
        const options = { ...OFFERS, pipelining, script: { [point]: {} } };
        const { server, transport } = await serverAndTransport(t, options, {
          url,
          timeouts: { [clock]: 150 },
        });
        const report = await transport.send(mail("1"));
        assert.equal(report.phase, phase);
        assert.equal(report.handedOver, handedOver);
        assert.equal(report.failure?.kind, "timeout");
        assert.deepEqual(report.accepted, []);
        await server.quiet();
      });

      test(`cannot stretch the time at ${point} by an octet now and then`, async (t) => {
        const drip = { raw: "2" };
        const options = { ...OFFERS, pipelining, script: { [point]: drip } };
        const { server, transport } = await serverAndTransport(t, options, {
          url,
          timeouts: { [clock]: 150 },
        });
        const sent = transport.send(mail("1"));
        // Earlier it would spoil the reply to another command.
        await server.reached(point);
        const dripping = setInterval(() => server.sessions[0]?.socket.write("2"), 20);
        t.after(() => clearInterval(dripping));
        const report = await sent;
        assert.equal(report.phase, phase);
        assert.notEqual(report.failure, null);
      });

      for (const end of ["close", "reset"] as const) {
        test(`that ends the connection (${end}) at ${point} leaves no doubt about what it has`, async (t) => {
          const { server, transport } = await serverAndTransport(
            t,
            { ...OFFERS, pipelining, script: { [point]: { end } } },
            { url },
          );
          const report = await transport.send(mail("1"));
          assertPhase(report.phase, phase);
          assert.equal(report.handedOver, handedOver);
          assert.equal(report.finalReply, null);
          assert.equal(report.failure?.kind, phase === "tls" ? "tls" : "connection");
          assert.equal(judge(report).class, handedOver ? "UNKNOWN" : "HOST");
          assert.equal(server.sessions.length, 1);
        });
      }

      test(`that says 421 at ${point} is left, and nothing is lost`, async (t) => {
        const script = {
          [point]: { reply: "421 4.3.2 Shutting down, try again in 120 seconds", end: "close" as const },
        };
        const { server, transport } = await serverAndTransport(t, { ...OFFERS, pipelining, script }, { url });
        const report = await transport.send(mail("1"));
        assert.equal(report.phase, phase);
        assert.equal(report.failure?.reply?.code, 421);
        const verdict = judge(report);
        assert.equal(verdict.class, "HOST");
        assert.equal(verdict.outcome, "retry");
        assert.equal(verdict.waitSeconds, 120);
        assert.equal(server.sessions.length, 1);
        await server.quiet();
      });

      test(`can be left at ${point} when the caller aborts`, async (t) => {
        const { server, transport } = await serverAndTransport(
          t,
          { ...OFFERS, pipelining, script: { [point]: {} } },
          { url },
        );
        const abort = new AbortController();
        const sending = transport.send(mail("1", { signal: abort.signal }));
        await server.reached(point);
        abort.abort();
        const report = await sending;
        assertPhase(report.phase, phase);
        assert.equal(report.failure?.kind, "aborted");
        assert.equal(report.handedOver, handedOver);
        await server.quiet();
        assert.deepEqual(server.accepted, []);
      });
    }

    test("that keeps the message and cuts the connection leaves the outcome unknown", async (t) => {
      const { server, transport } = await serverAndTransport(t, {
        pipelining,
        script: { dot: { keep: true, end: "reset" } },
      });
      const report = await transport.send(mail("1"));
      assert.equal(server.accepted.length, 1);
      assert.equal(report.handedOver, true);
      assert.equal(report.finalReply, null);
      assert.equal(judge(report).outcome, "unknown");
    });

    test("that says 250 without its line end and goes has not said it", async (t) => {
      const { transport } = await serverAndTransport(t, {
        pipelining,
        script: { dot: { keep: true, raw: "250 2.0.0 Ok", end: "close" } },
      });
      const report = await transport.send(mail("1"));
      assert.deepEqual(report.accepted, []);
      assert.equal(judge(report).class, "UNKNOWN");
    });

    for (const cut of [1, 1000, 300_000]) {
      test(`that cuts the connection after ${cut} octets of the body has nothing, and the mail is tried again`, async (t) => {
        const body = ({ octets }: { octets: number }) =>
          octets >= cut ? ({ end: "reset" } as const) : undefined;
        const { server, transport } = await serverAndTransport(t, { pipelining, script: { body } });
        // A small message is with the system at once, so the gate waits until the cut is known.
        const gate = () => server.quiet().then(() => new Promise<never>(() => {}));
        const report = await transport.send(mail("1", { body: "x".repeat(400_000), gate }));
        assert.equal(report.phase, "data");
        assert.equal(report.handedOver, false);
        assert.deepEqual({ ...judge(report), message: "" }, {
          class: "HOST", outcome: "retry", refund: "unproven", breaker: "count", errorCode: "transport_unavailable",
          waitSeconds: null, accepted: [], refused: [], deferred: [], message: "", phase: "data", smtpCode: null,
        }); // biome-ignore format: a list
        assert.deepEqual(server.accepted, []);
      });
    }

    test("that stops reading is left after the limit for silence", async (t) => {
      const options = { pipelining, script: { body: { end: "pause" as const } } };
      const { server, transport } = await serverAndTransport(t, options, { timeouts: { command: 300 } });
      const report = await transport.send(mail("1", { body: "x".repeat(20_000_000) }));
      assert.equal(report.failure?.kind, "timeout");
      assert.equal(report.phase, "data");
      assert.deepEqual(server.accepted, []);
    });

    test("that refuses in the middle of the body is believed, and the session is not used again", async (t) => {
      const { server, transport } = await serverAndTransport(t, {
        pipelining,
        script: { body: "552 5.3.4 Too much" },
      });
      const report = await transport.send(mail("1", { gate: () => new Promise(() => {}) }));
      assert.equal(report.handedOver, false);
      assert.equal(judge(report).errorCode, "message_too_large");
      await server.quiet();
    });
  });
}

suite("a server's talk", TIMES, () => {
  const nonsense: [string, string][] = [
    ["no SMTP at all", "HTTP/1.1 400 Bad Request"],
    ["a line of 5 MB", `220 ${"x".repeat(5_000_000)}`],
    ["a reply of 100,000 lines", `${"220-and\r\n".repeat(100_000 * 2)}220 so on`],
  ];
  for (const [what, greeting] of nonsense) {
    test(`cannot fill the memory or stop us: ${what}`, async (t) => {
      const { server, transport } = await serverAndTransport(t, { script: { greeting } });
      const report = await transport.send(mail("1"));
      assert.equal(report.failure?.kind, "protocol");
      assert.equal(judge(report).class, "HOST");
      assert.ok((report.failure?.reply?.text ?? "").length <= 500);
      await server.quiet();
    });
  }

  test("without an end is cut off at 1 MB", async (t) => {
    const { server, transport } = await serverAndTransport(t, { script: { ehlo: { raw: "250-" } } });
    const flood = "x".repeat(65_536);
    const sending = transport.send(mail("1"));
    await server.reached("ehlo");
    const socket = server.sessions[0]!.socket;
    let written = 0;
    const more = () => {
      while (!socket.destroyed && socket.write(flood)) written += flood.length;
    };
    socket.on("drain", more);
    more();
    assert.equal((await sending).failure?.kind, "protocol");
    await server.quiet();
    assert.ok(written < 20_000_000);
  });

  test("reaches reports without control characters and without the recipient's address", async (t) => {
    const { transport } = await serverAndTransport(t, {
      script: { rcpt: "550 5.1.1 \x1b[31m<ada@customer.example>: unknown" },
    });
    const report = await transport.send(mail("1"));
    const [{ reply } = { reply: null }] = report.rejected;
    assert.deepEqual(reply, { code: 550, enhanced: "5.1.1", text: "[31m<…@customer.example>: unknown" });
    assert.doesNotMatch(judge(report).message, /ada@/);
  });
});

suite("a transport", TIMES, () => {
  test("that cannot reach its host says so", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    await server.close();
    const report = await transport.send(mail("1"));
    assert.equal(report.phase, "connect");
    assert.equal(report.failure?.kind, "connection");
    assert.match(report.failure?.message ?? "", /ECONNREFUSED/);
  });

  test("that cannot find its host says so", async (t) => {
    const { transport } = await serverAndTransport(t, {}, { url: () => "smtp://nothing.invalid:2525" });
    const report = await transport.send(mail("1"));
    assert.equal(report.failure?.kind, "dns");
    assert.equal(judge(report).class, "HOST");
  });

  test("whose caller has aborted already does not connect", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    const report = await transport.send(mail("1", { signal: AbortSignal.abort(), gate: granted }));
    assert.equal(report.failure?.kind, "aborted");
    assert.equal(server.sessions.length, 0);
  });
});
