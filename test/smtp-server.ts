import { EventEmitter, once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { CERTIFICATE, PRIVATE_KEY } from "./smtp-certificate.ts";
import { SmtpReader } from "./smtp-reader.ts";

/** Where a script can step in. `body` is the first octets of a message, `dot` the whole of it. */
export type Point =
  | "greeting" | "ehlo" | "starttls" | "auth" | "mail" | "rcpt" | "data" | "body" | "dot" | "rset" | "quit"; // biome-ignore format: a list

/**
 * What the server does at a point instead of going on:
 * a reply (without its CRLF), or an object with what is written (`reply` gets a CRLF, `raw` does not), whether the
 * message is kept, and how the connection ends. Without a reply it says nothing more for ever: `{}` is a stall.
 */
export type Act =
  | string
  | {
      readonly reply?: string;
      readonly raw?: string;
      readonly keep?: boolean;
      readonly end?: "close" | "reset" | "pause";
    };

/** What a script sees. */
export interface Context {
  readonly session: SmtpSession;
  /** The command line; for `rcpt` and `mail` see `address`. */
  readonly line: string;
  readonly address: string;
  /** Octets of this message so far (`body`, which is asked for each piece, and `dot`). */
  readonly octets: number;
}

/** An act, or a function that makes one (after whatever it waits for); undefined goes on as usual. */
export type Step = Act | ((context: Context) => Act | undefined | Promise<Act | undefined>);
export type Script = Partial<Record<Point, Step>>;

/** A message that the server has answered for, or kept. */
export interface AcceptedMessage {
  readonly messageId: string;
  readonly from: string;
  readonly recipients: readonly string[];
  /** As written, without dot-stuffing and final dot; empty with `keepRaw: false`. */
  readonly raw: Buffer;
  /** Number of the connection, from 1. */
  readonly connection: number;
  /** When, by performance.now(). */
  readonly at: number;
}

/** One connection. */
export interface SmtpSession {
  readonly number: number;
  readonly commands: string[];
  /** `user:password` of a successful AUTH. */
  login: string | null;
  secure: boolean;
  messages: number;
  ended: boolean;
  socket: Socket;
}

export interface SmtpServerOptions {
  readonly script?: Script;
  /** Default 0: any free one. */
  readonly port?: number;
  /** SIZE in the EHLO reply, octets. */
  readonly size?: number;
  readonly smtpUtf8?: boolean;
  readonly pipelining?: boolean;
  readonly startTls?: boolean;
  /** TLS from the first octet. */
  readonly secure?: boolean;
  /** Offers AUTH PLAIN and LOGIN and takes this `user:password`. */
  readonly login?: string;
  /** False: of the messages only id and envelope are kept. */
  readonly keepRaw?: boolean;
}

/** A scripted SMTP server on 127.0.0.1. Tests wait for what it saw, never for time. */
export interface SmtpServer {
  readonly port: number;
  /** `smtp://127.0.0.1:port`, or smtps. */
  readonly url: string;
  /** May be changed while it runs. */
  script: Script;
  readonly sessions: SmtpSession[];
  /** The ledger: whatever it took. */
  readonly accepted: AcceptedMessage[];
  /** Connections that are open now. */
  readonly open: number;
  /** The next message of the ledger that no call has returned yet. */
  nextMessage(): Promise<AcceptedMessage>;
  /** The ledger, when it holds at least so many. */
  messages(count: number): Promise<readonly AcceptedMessage[]>;
  /** When the point has been reached so many times in all (default 1). */
  reached(point: Point, times?: number): Promise<void>;
  /** When no connection is open any more. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<SmtpServer> {
  const events = new EventEmitter().setMaxListeners(0);
  const counts = new Map<Point, number>();
  const sessions: SmtpSession[] = [];
  const accepted: AcceptedMessage[] = [];
  const open = new Set<Socket>();
  let returned = 0;
  const until = async (condition: () => boolean) => {
    while (!condition()) await once(events, "change");
  };
  const context = createSecureContext({ cert: CERTIFICATE, key: PRIVATE_KEY });
  const listener = net.createServer({ noDelay: true }, (plain) => {
    open.add(plain);
    plain.on("error", () => {});
    const closed = () => {
      open.delete(plain);
      session.ended = true;
      events.emit("change");
    };
    plain.on("close", closed);
    const secured = (socket: Socket) => {
      const wrapped = new TLSSocket(socket, { isServer: true, secureContext: context });
      // A client that gives the handshake up leaves a greeting that can never be written; nothing would close by itself.
      wrapped.on("close", closed);
      for (const event of ["end", "error"]) wrapped.on(event, () => wrapped.destroy());
      return wrapped;
    };
    const socket = options.secure ? secured(plain) : plain;
    const session: SmtpSession = {
      ...NEW_SESSION,
      number: sessions.length + 1,
      commands: [],
      secure: options.secure ?? false,
      socket,
    };
    sessions.push(session);
    new SmtpReader(session, plain, {
      options,
      secured,
      step: (point) => server.script[point],
      reached: (point) => {
        counts.set(point, (counts.get(point) ?? 0) + 1);
        events.emit("change");
      },
      accept: (message) => {
        accepted.push(message);
        events.emit("change");
      },
    }).start();
  });
  listener.listen(options.port ?? 0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const server: SmtpServer = {
    port,
    url: `smtp${options.secure ? "s" : ""}://127.0.0.1:${port}`,
    script: options.script ?? {},
    sessions,
    accepted,
    get open() {
      return open.size;
    },
    nextMessage: async () => {
      const index = returned++;
      await until(() => accepted.length > index);
      return accepted[index]!;
    },
    messages: async (count) => {
      await until(() => accepted.length >= count);
      return accepted;
    },
    reached: (point, times = 1) => until(() => (counts.get(point) ?? 0) >= times),
    quiet: () => until(() => open.size === 0),
    close: async () => {
      listener.close();
      for (const socket of open) socket.destroy();
      if (listener.listening) await once(listener, "close");
    },
  };
  return server;
}

const NEW_SESSION = { login: null, messages: 0, ended: false };

// `node test/smtp-server.ts --port 2525` is a sink for benchmarks: it takes everything and keeps only ids and envelopes.
if (import.meta.main) {
  const at = process.argv.indexOf("--port");
  const server = await startSmtpServer({ port: at < 0 ? 0 : Number(process.argv[at + 1]), keepRaw: false });
  console.log(JSON.stringify({ url: server.url }));
  process.on("SIGTERM", () => {
    console.log(JSON.stringify({ accepted: server.accepted.length }));
    process.exit(0);
  });
}
