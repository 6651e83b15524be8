import { once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { reset } from "../reset.ts";

export type Direction = "toServer" | "toClient";

/**
 * What is done to a connection: `fin` and `reset` end it on both sides; with `silence` nothing passes any more though it
 * stays open (a router that has forgotten it); with `mute` that is so in one direction only.
 */
export type FaultKind = "fin" | "reset" | "silence" | "mute";

/** A fault that strikes instead of the message after the first `after` ones in its direction. */
export interface Fault {
  readonly direction: Direction;
  readonly after: number;
  readonly kind: FaultKind;
}

/** One connection through the proxy. */
export interface ProxiedConnection {
  /** From 1. */
  readonly number: number;
  /** Whole messages that have passed. */
  readonly passed: Record<Direction, number>;
  fault: Fault | null;
  /** The fault has struck. */
  readonly struck: boolean;
  readonly open: boolean;
  /** Strikes now. */
  strike(kind: FaultKind, direction?: Direction): void;
}

/** A TCP proxy on 127.0.0.1 that knows where messages end, and breaks connections there. */
export interface FaultyProxy {
  readonly port: number;
  readonly connections: readonly ProxiedConnection[];
  /** The fault of each new connection; null for none. May be changed at any time. */
  faultOf: (number: number) => Fault | null;
  /** New connections are reset. */
  refusing: boolean;
  /** Milliseconds that each message is held, in both directions. */
  delay: number;
  /** The URL of the server, as it is through the proxy. */
  at(url: string): string;
  /** Strikes all open connections now. @param direction that of `mute` */
  strike(kind: FaultKind, direction?: Direction): void;
  close(): Promise<void>;
}

/** Starts a proxy to the server of this URL, which is an `smtp:` or `postgres:` one: so it is known what a message is. */
export async function startProxy(target: string): Promise<FaultyProxy> {
  const { hostname, port: targetPort, protocol } = new URL(target);
  const cut = protocol.startsWith("postgres") ? cutPostgres : cutLines;
  const connections: Connection[] = [];
  const listener = net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    client.on("error", () => {});
    if (proxy.refusing) {
      reset(client);
      return;
    }
    const server = net.connect({
      host: hostname,
      port: Number(targetPort),
      noDelay: true,
      allowHalfOpen: true,
    });
    const number = connections.length + 1;
    connections.push(
      new Connection(number, client, server, proxy.faultOf(number), { cut, delay: () => proxy.delay }),
    );
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const proxy: FaultyProxy = {
    port,
    connections,
    faultOf: () => null,
    refusing: false,
    delay: 0,
    at(url) {
      const proxied = new URL(url);
      proxied.host = `127.0.0.1:${port}`;
      return proxied.href;
    },
    strike(kind, direction) {
      for (const connection of connections) if (connection.open) connection.strike(kind, direction);
    },
    async close() {
      proxy.refusing = true;
      proxy.strike("reset");
      listener.close();
      await once(listener, "close");
    },
  };
  return proxy;
}

/** Takes the first whole message off a buffer, or null. `first` is true at the start of what a client says. */
type Cut = (buffer: Buffer, first: boolean) => number | null;

class Connection implements ProxiedConnection {
  readonly number: number;
  readonly passed: Record<Direction, number> = { toServer: 0, toClient: 0 };
  fault: Fault | null;
  struck = false;
  readonly #ends: Record<Direction, Socket>;
  readonly #muted = new Set<Direction>();
  readonly #ways: { cut: Cut; delay: () => number };

  constructor(
    number: number,
    client: Socket,
    server: Socket,
    fault: Fault | null,
    ways: { cut: Cut; delay: () => number },
  ) {
    this.number = number;
    this.fault = fault;
    this.#ends = { toServer: server, toClient: client };
    this.#ways = ways;
    server.on("error", () => client.destroy());
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroySoon());
    this.#relay(client, "toServer");
    this.#relay(server, "toClient");
  }

  get open(): boolean {
    return !this.#ends.toClient.destroyed;
  }

  strike(kind: FaultKind, direction: Direction = "toClient"): void {
    this.struck = true;
    const ends = Object.values(this.#ends);
    this.#muted.add("toServer").add("toClient");
    if (kind === "mute") this.#muted.delete(direction === "toServer" ? "toClient" : "toServer");
    if (kind === "fin") for (const socket of ends) socket.end();
    if (kind === "reset") for (const socket of ends) reset(socket);
  }

  #relay(from: Socket, direction: Direction): void {
    let buffer: Buffer = Buffer.alloc(0);
    let last: Promise<unknown> = Promise.resolve();
    from.on("data", (chunk: Buffer) => {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
      for (;;) {
        const length = this.#ways.cut(buffer, direction === "toServer" && this.passed.toServer === 0);
        if (length === null) return;
        const message = buffer.subarray(0, length);
        buffer = buffer.subarray(length);
        const held = this.#ways.delay();
        if (held === 0) this.#pass(message, direction);
        else last = Promise.all([last, delay(held)]).then(() => this.#pass(message, direction));
      }
    });
    from.on("end", () => {
      if (!this.#muted.has(direction)) void last.then(() => this.#ends[direction].end());
    });
  }

  #pass(message: Buffer, direction: Direction): void {
    const { fault } = this;
    if (!this.struck && fault?.direction === direction && this.passed[direction] >= fault.after) {
      this.strike(fault.kind, direction);
    }
    if (this.#muted.has(direction)) return;
    this.passed[direction] += 1;
    this.#ends[direction].write(message);
  }
}

/** SMTP: a message is a line. */
function cutLines(buffer: Buffer): number | null {
  const end = buffer.indexOf("\n");
  return end < 0 ? null : end + 1;
}

/** PostgreSQL: a type and a length that counts itself; what a client says first has no type. */
function cutPostgres(buffer: Buffer, first: boolean): number | null {
  const head = first ? 0 : 1;
  if (buffer.length < head + 4) return null;
  const length = head + buffer.readInt32BE(head);
  return buffer.length < length ? null : length;
}
