import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { GateAnswer } from "../../src/transport/transport.ts";
import type { Context } from "../smtp-server.ts";
import { granted, mail, serverAndTransport } from "./sending.ts";

const TIMES = { timeout: 20_000 };

suite("the pool", TIMES, () => {
  test("uses one connection for one mail after the other", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    for (const id of ["1", "2", "3"]) assert.equal((await transport.send(mail(id))).failure, null);
    assert.equal(server.sessions.length, 1);
    assert.deepEqual(
      server.sessions[0]?.commands.filter((line) => line === "RSET"),
      [],
    );
  });

  test("never opens more than its connections, and serves who waits in order", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, { connections: 3 });
    const ids = Array.from({ length: 60 }, (_, index) => String(index));
    let most = 0;
    const gate = () => {
      most = Math.max(most, server.open);
      return granted();
    };
    const reports = await Promise.all(ids.map((id) => transport.send(mail(id, { gate }))));
    assert.ok(reports.every((report) => report.failure === null));
    assert.equal(server.sessions.length, 3);
    assert.ok(most <= 3);
    const order = server.accepted.map(({ messageId }) => Number(/\d+/.exec(messageId)?.[0]));
    for (const [place, id] of order.entries())
      assert.ok(Math.abs(id - place) <= 3, `${id} came as number ${place}`);
  });

  test("lets a waiting mail be aborted without a trace", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, { connections: 1 });
    const answer = Promise.withResolvers<GateAnswer>();
    const first = transport.send(mail("1", { gate: () => answer.promise }));
    const abort = new AbortController();
    const second = transport.send(mail("2", { signal: abort.signal }));
    const third = transport.send(mail("3"));
    abort.abort();
    const report = await second;
    assert.equal(report.failure?.kind, "aborted");
    assert.equal(report.phase, "connect");
    answer.resolve(await granted());
    await Promise.all([first, third]);
    assert.deepEqual(
      server.accepted.map(({ messageId }) => messageId),
      ["<1@shop.example>", "<3@shop.example>"],
    );
  });

  test("notices that the server closed an idle connection, and opens another", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    await transport.send(mail("1"));
    server.sessions[0]?.socket.write("421 4.4.2 Idle for too long\r\n");
    server.sessions[0]?.socket.end();
    await server.quiet();
    assert.equal((await transport.send(mail("2"))).failure, null);
    assert.equal(server.sessions.length, 2);
  });

  const farewells = {
    "a close": { end: "close" },
    "a reset": { end: "reset" },
    "a 421": { reply: "421 4.4.2 Idle", end: "close" },
  } as const;
  for (const [name, act] of Object.entries(farewells)) {
    test(`sends once more on a new connection when the idle one answers the next mail with ${name}`, async (t) => {
      const ends = ({ session }: Context) => (session.messages > 0 ? act : undefined);
      const { server, transport } = await serverAndTransport(t, { script: { mail: ends } });
      await transport.send(mail("1"));
      const report = await transport.send(mail("2"));
      assert.equal(report.failure, null);
      assert.equal(server.sessions.length, 2);
      assert.equal(server.accepted.length, 2);
    });
  }

  test("tries no third connection", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    await transport.send(mail("1"));
    server.script = { mail: { reply: "421 4.3.2 Down", end: "close" } };
    assert.equal((await transport.send(mail("2"))).failure?.reply?.code, 421);
    assert.equal(server.sessions.length, 2);
  });

  test("does not try again on its own when the connection breaks after MAIL was answered", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    await transport.send(mail("1"));
    server.script = { rcpt: { end: "reset" } };
    assert.equal((await transport.send(mail("2"))).failure?.kind, "connection");
    assert.equal(server.sessions.length, 1);
  });

  test("ends a refused transaction with RSET and goes on with the connection", async (t) => {
    const refuses = ({ address }: Context) => (address.startsWith("no") ? "550 5.1.1 Unknown" : undefined);
    const { server, transport } = await serverAndTransport(t, { script: { rcpt: refuses } });
    await transport.send(mail("1", { to: ["no@x.test"] }));
    assert.equal((await transport.send(mail("2"))).failure, null);
    assert.equal(server.sessions.length, 1);
    assert.ok(server.sessions[0]?.commands.includes("RSET"));
  });

  test("does not blame a mail for an RSET that the server refuses", async (t) => {
    const script = { rcpt: "450 4.2.0 Later", rset: "500 5.5.1 What" };
    const { server, transport } = await serverAndTransport(t, { script });
    await transport.send(mail("1"));
    server.script = { rset: "500 5.5.1 What" };
    assert.equal((await transport.send(mail("2"))).failure, null);
    assert.equal(server.sessions.length, 2);
  });

  test("gives a connection up after maxMessages", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, { url: (url) => `${url}?maxMessages=2` });
    for (const id of ["1", "2", "3"]) await transport.send(mail(id));
    assert.equal(server.sessions.length, 2);
    assert.equal(server.sessions[0]?.commands.at(-1), "QUIT");
  });

  test("takes leave of a connection that was idle for idleTimeout", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, { url: (url) => `${url}?idleTimeout=50` });
    await transport.send(mail("1"));
    await server.quiet();
    assert.equal(server.sessions[0]?.commands.at(-1), "QUIT");
    assert.equal((await transport.send(mail("2"))).failure, null);
  });

  test("survives a server that talks while nobody asked", async (t) => {
    const { server, transport } = await serverAndTransport(t);
    await transport.send(mail("1"));
    server.sessions[0]?.socket.write("250 Ok, whatever\r\n");
    await server.quiet();
    assert.equal((await transport.send(mail("2"))).failure, null);
  });
});

suite("a probe", TIMES, () => {
  test("opens a new connection up to AUTH, sends nothing, and leaves it for the next mail", async (t) => {
    const { server, transport } = await serverAndTransport(
      t,
      { login: "u:p" },
      { url: (url) => url.replace("//", "//u:p@") },
    );
    const report = await transport.probe();
    assert.equal(report.failure, null);
    assert.equal(report.phase, "auth");
    assert.equal((await transport.send(mail("1"))).failure, null);
    assert.equal(server.sessions.length, 1);
  });

  test("is not satisfied with an idle connection, and stays within the limit", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, { connections: 1 });
    await transport.send(mail("1"));
    server.script = { greeting: "554 5.3.2 No service" };
    assert.equal((await transport.probe()).failure?.code, "EGREETING");
    assert.equal(server.sessions[0]?.commands.at(-1), "QUIT");
  });
});

suite("closing a transport", TIMES, () => {
  test("lets what is being sent end, refuses what waits, and takes leave", async (t) => {
    const { server, transport } = await serverAndTransport(t, {}, { connections: 1 });
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<GateAnswer>();
    const gate = () => {
      asked.resolve();
      return answer.promise;
    };
    const first = transport.send(mail("1", { gate }));
    const second = transport.send(mail("2"));
    await asked.promise;
    const closing = transport.close();
    assert.equal((await second).failure?.code, "ECLOSED");
    answer.resolve(await granted());
    assert.equal((await first).failure, null);
    await closing;
    await server.quiet();
    assert.equal(server.sessions[0]?.commands.at(-1), "QUIT");
    assert.equal((await transport.send(mail("3"))).failure?.code, "ECLOSED");
  });

  test("does not wait for a server that does not say good-bye", async (t) => {
    const { server, transport } = await serverAndTransport(t, { script: { quit: { end: "pause" } } });
    await transport.send(mail("1"));
    await transport.close();
    await server.quiet();
  });

  test("resets nothing: a second call is fine", async (t) => {
    const { transport } = await serverAndTransport(t);
    await transport.send(mail("1"));
    await Promise.all([transport.close(), transport.close()]);
  });
});
