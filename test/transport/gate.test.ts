import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { suite, test } from "node:test";
import type { GateAnswer } from "../../src/transport/transport.ts";
import { reset } from "../reset.ts";
import { granted, mail, serverAndTransport } from "./sending.ts";

const TIMES = { timeout: 20_000 };

suite("the gate", TIMES, () => {
  test("is asked once, when the server has the whole message and no dot, and a yes sends it", async (t) => {
    const { server, transport } = await serverAndTransport(t, { pipelining: true });
    let asked = 0;
    const request = mail("1", { body: "x".repeat(200_000) });
    const report = await transport.send({
      ...request,
      gate: async () => {
        asked += 1;
        await server.reached("body");
        assert.equal(server.accepted.length, 0);
        return granted();
      },
    });
    assert.equal(asked, 1);
    assert.deepEqual(report, {
      phase: "final_dot",
      handedOver: true,
      finalReply: { code: 250, enhanced: "2.0.0", text: "Ok: queued" },
      accepted: ["ada@customer.example"],
      rejected: [],
      failure: null,
    });
    assert.equal(server.accepted[0]?.raw.length, request.message.size);
  });

  const noes: [string, () => Promise<GateAnswer>][] = [
    ["a no", async () => ({ granted: false })],
    [
      "a yes that came too late by the monotonic clock",
      async () => ({ ...(await granted()), notAfter: performance.now() - 1 }) as GateAnswer,
    ],
    [
      "a yes that came too late by the wall clock",
      async () => ({ ...(await granted()), notAfterWall: Date.now() - 1 }) as GateAnswer,
    ],
    ["no answer, because the question failed", () => Promise.reject(new Error("database away"))],
    [
      "a question that throws",
      () => {
        throw new Error("bug");
      },
    ],
  ];
  for (const [answer, gate] of noes) {
    test(`closes without a dot after ${answer}, and the server keeps nothing`, async (t) => {
      const { server, transport } = await serverAndTransport(t);
      const report = await transport.send(mail("1", { gate }));
      assert.equal(report.failure?.kind, "gate");
      assert.equal(report.handedOver, false);
      assert.equal(report.phase, "data");
      assert.deepEqual(report.accepted, []);
      await server.quiet();
      assert.deepEqual(server.accepted, []);
      assert.equal((await transport.send(mail("2"))).failure, null);
    });
  }

  test("is not heard any more when the connection is lost while it is asked", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<GateAnswer>();
    const sending = transport.send(
      mail("1", {
        gate: () => {
          asked.resolve();
          return answer.promise;
        },
      }),
    );
    await asked.promise;
    reset(server.sessions[0]!.socket);
    const report = await sending;
    answer.resolve(await granted());
    assert.equal(report.failure?.kind, "connection");
    assert.equal(report.handedOver, false);
    await server.quiet();
    assert.deepEqual(server.accepted, []);
  });

  test("is given up when it does not answer within the limit of a command", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, { timeouts: { command: 100 } });
    const report = await transport.send(mail("1", { gate: () => new Promise(() => {}) }));
    assert.equal(report.failure?.kind, "timeout");
    assert.equal(report.handedOver, false);
    await server.quiet();
    assert.deepEqual(server.accepted, []);
  });

  test("is not asked before a slow server has taken the whole message", async (t) => {
    const { server, transport } = await serverAndTransport(
      t,
      { script: { body: { end: "pause" } } },
      { timeouts: { command: 300 } },
    );
    let asked = false;
    const gate = () => {
      asked = true;
      return granted();
    };
    const report = await transport.send(mail("1", { gate, body: "x".repeat(20_000_000) }));
    assert.equal(report.failure?.kind, "timeout");
    assert.equal(asked, false);
    assert.equal(server.accepted.length, 0);
  });

  test("is not asked when a recipient, the sender or DATA is refused", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    let asked = 0;
    const gate = () => {
      asked += 1;
      return granted();
    };
    for (const point of ["mail", "rcpt", "data"] as const) {
      server.script = { [point]: "451 4.0.0 Later" };
      const report = await transport.send(mail("1", { gate }));
      assert.equal(report.phase, point);
    }
    assert.equal(asked, 0);
    assert.equal(server.sessions.length, 1);
  });

  test("withholds the dot when the message itself cannot be read to its end", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    const stream = () =>
      Readable.from(
        (async function* () {
          yield Buffer.from("Subject: half\r\n\r\n");
          throw new Error("disk");
        })(),
        { objectMode: false },
      );
    const report = await transport.send(mail("1", { message: { size: 100, stream } }));
    assert.equal(report.handedOver, false);
    assert.equal(report.failure?.code, "ESTREAM");
    await server.quiet();
    assert.deepEqual(server.accepted, []);
  });

  test("is not passed on a 250 in place of the 354, which may be the late reply to another command", async (t) => {
    const { server, transport } = await serverAndTransport(t, { script: { data: "250 2.0.0 Ok" } });
    const report = await transport.send(mail("1"));
    assert.equal(report.failure?.kind, "protocol");
    assert.equal(report.handedOver, false);
    await server.quiet();
  });

  test("cannot turn a server that answers ahead of its turn into a sent mail", async (t) => {
    // Every reply comes one command early: the one to the dot would be read from an earlier message.
    const { server, transport } = await serverAndTransport(t, {
      script: { greeting: "220 hi\r\n250 early" },
    });
    const report = await transport.send(mail("1"));
    assert.notEqual(report.failure, null);
    assert.deepEqual(report.accepted, []);
    assert.equal(server.accepted.length, 0);
  });

  test("stays shut when the server says 250 in the middle of the message", async (t) => {
    const { server, transport } = await serverAndTransport(t, {
      script: { body: "250 2.0.0 Queued already" },
    });
    const asked = Promise.withResolvers<void>();
    const gate = async () => {
      asked.resolve();
      await once(server.sessions[0]!.socket, "close");
      return granted();
    };
    const report = await transport.send(mail("1", { gate }));
    assert.equal(report.failure?.kind, "protocol");
    assert.equal(report.handedOver, false);
    assert.deepEqual(report.accepted, []);
  });
});
