import { once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Answer, Point } from "./answers.ts";

/** A message that came whole, with what the server wrote after it. */
export interface Received {
  readonly from: string;
  /** Without those whose RCPT was answered by a refusal. */
  readonly recipients: readonly string[];
  readonly raw: Buffer;
  /** All that was written on this connection since DATA. */
  written: Buffer;
}

/** What a hostile server does at a point: null is the usual, good answer. `from` is known after MAIL. */
export type Decide = (point: Point, from: string) => Answer | null;

/** A server on 127.0.0.1 that answers each command with whatever it is told to. */
export interface HostileServer {
  readonly url: string;
  decide: Decide;
  /** Whole messages, whatever was answered to them. */
  readonly received: Received[];
  /** All command lines, as latin1. */
  readonly commands: string[];
  close(): Promise<void>;
}

const USUAL: Readonly<Record<Point, string>> = {
  greeting: "220 test.example",
  ehlo: "250 test.example",
  starttls: "454 Not now",
  auth: "235 In",
  mail: "250 Ok",
  rcpt: "250 Ok",
  data: "354 Go on",
  dot: "250 Queued",
  rset: "250 Ok",
  quit: "221 Bye",
};
const VERB = /^(EHLO|HELO|STARTTLS|AUTH|MAIL|RCPT|DATA|RSET|QUIT)\b/;
const END = Buffer.from("\r\n.\r\n");
// What is kept of an endless answer.
const KEPT = 4096;

export async function startHostileServer(
  decide: Decide,
  offers: readonly string[] = [],
): Promise<HostileServer> {
  const open = new Set<Socket>();
  const listener = net.createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("close", () => open.delete(socket));
    // A client that breaks off, or is broken off, ends the loop over what it says.
    converse(socket, server, offers).catch(() => socket.destroy());
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const server: HostileServer = {
    url: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    decide,
    received: [],
    commands: [],
    async close() {
      listener.close();
      for (const socket of open) socket.destroy();
      if (listener.listening) await once(listener, "close");
    },
  };
  return server;
}

async function converse(socket: Socket, server: HostileServer, offers: readonly string[]): Promise<void> {
  let from = "";
  let recipients: string[] = [];
  let since: Buffer | null = null;
  let last: Received | null = null;
  let input: Buffer = Buffer.alloc(0);
  const note = (octets: Buffer) => {
    if (since !== null && since.length < KEPT) since = Buffer.concat([since, octets.subarray(0, KEPT)]);
    if (last !== null && since !== null) last.written = since;
  };
  const answer = async (point: Point, address = "") => {
    const chosen = server.decide(point, from);
    const refused = chosen !== null && /^[45]\d\d/.test(chosen.octets.toString("latin1", 0, 3));
    if (point === "rcpt" && !refused) recipients.push(address);
    if (chosen === null) {
      const usual = point === "ehlo" && offers.length > 0 ? greetBack(offers) : USUAL[point];
      const octets = Buffer.from(`${usual}\r\n`);
      note(octets);
      socket.write(octets);
      if (point === "quit") socket.end();
    } else {
      note(chosen.octets);
      await write(socket, chosen);
    }
  };
  await answer("greeting");
  let body = false;
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    input = input.length === 0 ? chunk : Buffer.concat([input, chunk]);
    for (;;) {
      // A message begins with a header, which no command looks like.
      if (body && VERB.test(input.toString("latin1", 0, 12))) body = false;
      if (body) {
        const end = input.indexOf(END);
        if (end < 0) break;
        last = { from, recipients, raw: input.subarray(0, end + 2), written: since ?? Buffer.alloc(0) };
        server.received.push(last);
        input = input.subarray(end + END.length);
        body = false;
        await answer("dot");
        continue;
      }
      const end = input.indexOf("\r\n");
      if (end < 0) break;
      const line = input.toString("latin1", 0, end);
      input = input.subarray(end + 2);
      server.commands.push(line);
      const verb = VERB.exec(line)?.[1];
      const address = /<([^>]*)>/.exec(line)?.[1] ?? "";
      if (verb === "MAIL") [from, recipients, since, last] = [address, [], null, null];
      if (verb === "DATA") [since, body] = [Buffer.alloc(0), true];
      const point = verb === "HELO" ? "ehlo" : verb?.toLowerCase();
      // Credentials, or a piece of a message that the server never asked for.
      if (point !== undefined) await answer(point as Point, address);
    }
  }
}

async function write(socket: Socket, { octets, split, endless, end }: Answer): Promise<void> {
  if (endless) {
    // As fast as it is taken, and no faster: the flood is to fill the client's memory, not ours.
    while (!socket.destroyed && !socket.writableEnded) {
      if (!socket.write(octets))
        await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => {});
    }
  } else if (split) {
    for (let at = 0; at < octets.length && !socket.destroyed; at += 1) {
      socket.write(octets.subarray(at, at + 1));
      await setImmediate();
    }
  } else socket.write(octets);
  if (end === "reset") socket.resetAndDestroy();
  else if (end !== undefined) socket.end();
  if (end === "close") socket.destroySoon();
}

function greetBack(offers: readonly string[]): string {
  return ["test.example", ...offers]
    .map((offer, index) => `250${index < offers.length ? "-" : " "}${offer}`)
    .join("\r\n");
}
