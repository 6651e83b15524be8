import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { judge } from "../../src/transport/verdict.ts";
import type { Context, Point } from "../smtp-server.ts";
import { mail, serverAndTransport } from "./sending.ts";

suite("an answer that is no reply of SMTP", { timeout: 30_000 }, () => {
  for (const answer of [
    "2",
    "2xx Ok",
    "25 Ok",
    "2500 Ok",
    "250-Ok\r\n550 No",
    "250-Ok\r\nOk",
    "354 Go on",
    "000 Ok",
  ]) {
    test(`to the dot leaves it unknown whether the message was taken: ${JSON.stringify(answer)}`, async (t) => {
      const { transport } = await serverAndTransport(t, { script: { dot: { reply: answer } } });
      const report = await transport.send(mail("1"));
      assert.deepEqual([report.handedOver, report.accepted, report.finalReply], [true, [], null]);
      assert.equal(judge(report).class, "UNKNOWN");
    });
  }

  for (const pipelining of [false, true]) {
    for (const answer of ["2", "2xx Ok", "354 Go on", "650 No", "\0\u001b[2J"]) {
      test(`to RCPT TO refuses nobody: ${JSON.stringify(answer)}${pipelining ? ", with PIPELINING" : ""}`, async (t) => {
        const script = { rcpt: { reply: answer } };
        const { server, transport } = await serverAndTransport(
          t,
          { pipelining, script },
          { timeouts: { command: 300 } },
        );
        const verdict = judge(await transport.send(mail("1")));
        assert.deepEqual([verdict.class, verdict.refused, verdict.deferred], ["HOST", [], []]);
        assert.equal(server.accepted.length, 0);
      });
    }
  }

  test("white space of any kind may follow a code", async (t) => {
    const { transport } = await serverAndTransport(t, { script: { dot: "250-Ok\r\n250\tqueued" } });
    assert.equal(judge(await transport.send(mail("1"))).class, "OK");
  });
});

suite("a reply that never ends", { timeout: 60_000 }, () => {
  const FLOODS = { "an endless line": "2", "empty lines": "\r\n", "continuation lines": "250-more\r\n" };
  for (const point of ["greeting", "ehlo", "mail", "data", "dot"] as const satisfies Point[]) {
    for (const [what, piece] of Object.entries(FLOODS)) {
      test(`is given up after 64 KiB, not when its time is up: ${what} at ${point}`, async (t) => {
        const octets = Buffer.from(piece.repeat(4096));
        const { server, transport } = await serverAndTransport(t, {
          script: {
            [point]: ({ session: { socket } }: Context) => {
              const more = () => {
                while (!socket.destroyed && socket.write(octets));
              };
              socket.on("drain", more);
              more();
              return {};
            },
          },
        });
        const report = await transport.send(mail("1"));
        assert.deepEqual([report.failure?.kind, report.failure?.code], ["protocol", "EPROTOCOL"]);
        assert.equal(judge(report).class, point === "dot" ? "UNKNOWN" : "HOST");
        await server.quiet();
      });
    }
  }
});
