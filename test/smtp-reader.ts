import type { Socket } from "node:net";
import { reset } from "./reset.ts";
import { SmtpBody } from "./smtp-body.ts";
import type { AcceptedMessage, Act, Point, SmtpServerOptions, SmtpSession, Step } from "./smtp-server.ts";

/** What the reader of one connection needs from its server. */
interface Surroundings {
  readonly options: SmtpServerOptions;
  secured(socket: Socket): Socket;
  step(point: Point): Step | undefined;
  reached(point: Point): void;
  accept(message: AcceptedMessage): void;
}

const POINTS: Readonly<Record<string, Point>> = {
  EHLO: "ehlo",
  HELO: "ehlo",
  STARTTLS: "starttls",
  AUTH: "auth",
  MAIL: "mail",
  RCPT: "rcpt",
  DATA: "data",
  RSET: "rset",
  QUIT: "quit",
};

/** The server's side of one connection: commands in, scripted or usual replies out. */
export class SmtpReader {
  readonly #session: SmtpSession;
  readonly #plain: Socket;
  readonly #around: Surroundings;
  #socket: Socket;
  #input: Buffer = Buffer.alloc(0);
  #from = "";
  #recipients: string[] = [];
  /** The message that is being read. */
  #body: SmtpBody | null = null;
  /** The message that was read last, whole or not. */
  #last: SmtpBody | null = null;
  #expect: "command" | "user" | "password" | "plain" = "command";
  #user = "";
  /** An act is waited for; input gathers meanwhile. */
  #held = false;

  constructor(session: SmtpSession, plain: Socket, around: Surroundings) {
    this.#session = session;
    this.#plain = plain;
    this.#socket = session.socket;
    this.#around = around;
  }

  start(): void {
    this.#listen();
    this.#at("greeting", "", "", () => this.#write("220 test.example ESMTP"));
  }

  #listen(): void {
    this.#socket.on("data", (chunk: Buffer) => {
      this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk]);
      this.#read();
    });
  }

  #read(): void {
    while (!this.#held && !this.#socket.destroyed && this.#input.length > 0) {
      if (this.#body) {
        if (!this.#readBody(this.#body)) return;
        continue;
      }
      const end = this.#input.indexOf("\r\n");
      if (end < 0) return;
      const line = this.#input.toString("utf8", 0, end);
      this.#input = this.#input.subarray(end + 2);
      this.#session.commands.push(line);
      this.#command(line);
    }
  }

  #command(line: string): void {
    if (this.#expect !== "command") {
      this.#credentials(line);
      return;
    }
    const verb = /^[A-Za-z]+/.exec(line)?.[0].toUpperCase() ?? "";
    const address = /<([^>]*)>/.exec(line)?.[1] ?? "";
    const point = POINTS[verb];
    if (point) this.#at(point, line, address, () => this.#comply(verb, line, address));
    else this.#write("500 5.5.2 Command not recognised");
  }

  #comply(verb: string, line: string, address: string): void {
    switch (verb) {
      case "STARTTLS":
        if (this.#around.options.startTls) this.#startTls();
        else this.#write("502 5.5.1 Not implemented");
        break;
      case "AUTH":
        this.#auth(line);
        break;
      case "MAIL":
        this.#from = address;
        this.#recipients = [];
        this.#write("250 2.1.0 Ok");
        break;
      case "RCPT":
        this.#recipients.push(address);
        this.#write("250 2.1.5 Ok");
        break;
      case "DATA":
        if (this.#recipients.length > 0) this.#body = new SmtpBody();
        this.#write(this.#body ? "354 End data with <CR><LF>.<CR><LF>" : "554 5.5.1 No valid recipients");
        break;
      case "RSET":
        this.#recipients = [];
        this.#write("250 2.0.0 Ok");
        break;
      case "QUIT":
        this.#do({ reply: "221 2.0.0 Bye", end: "close" });
        break;
      default:
        this.#write(this.#greetBack(verb));
    }
  }

  /** False: more octets are needed. */
  #readBody(body: SmtpBody): boolean {
    if (body.octets === 0) this.#around.reached("body");
    this.#input = body.take(this.#input);
    const finish = () => {
      if (!body.whole) return;
      this.#body = null;
      this.#at("dot", "", "", () => this.#do({ reply: "250 2.0.0 Ok: queued", keep: true }));
    };
    this.#last = body;
    if (this.#around.step("body") === undefined) finish();
    else this.#decide("body", "", "", finish);
    return this.#input.length > 0;
  }

  #at(point: Point, line: string, address: string, usual: () => void): void {
    this.#around.reached(point);
    this.#decide(point, line, address, usual);
  }

  #decide(point: Point, line: string, address: string, usual: () => void): void {
    const step = this.#around.step(point);
    const act =
      typeof step === "function"
        ? step({ session: this.#session, line, address, octets: this.#last?.octets ?? 0 })
        : step;
    const done = (result: Act | undefined) => {
      if (result === undefined) usual();
      else
        this.#do(
          typeof result === "string"
            ? { reply: result, keep: point === "dot" && result.startsWith("2") }
            : result,
        );
    };
    if (act instanceof Promise) {
      this.#held = true;
      void act.then((result) => {
        this.#held = false;
        done(result);
        this.#read();
      });
    } else done(act);
  }

  #do(act: Exclude<Act, string>): void {
    // A server that is silent, or on its way out, heeds no further command that was sent along.
    if (act.reply === undefined || act.end !== undefined) this.#held = true;
    if (act.keep && this.#last) this.#keep(this.#last);
    if (act.reply !== undefined) this.#write(act.reply);
    if (act.raw !== undefined) this.#socket.write(act.raw);
    if (act.end === "close") this.#socket.end();
    if (act.end === "reset") reset(this.#plain);
    if (act.end === "pause") this.#socket.pause();
  }

  #write(reply: string): void {
    this.#socket.write(`${reply}\r\n`);
  }

  #keep(body: SmtpBody): void {
    const raw = body.message();
    this.#session.messages += 1;
    this.#around.accept({
      messageId:
        /^Message-ID:\s*(<[^>\r\n]*>)/im.exec(raw.toString("latin1", 0, raw.indexOf("\r\n\r\n")))?.[1] ?? "",
      from: this.#from,
      recipients: this.#recipients,
      raw: this.#around.options.keepRaw === false ? Buffer.alloc(0) : raw,
      connection: this.#session.number,
      at: performance.now(),
    });
  }

  #greetBack(verb: string): string {
    if (verb === "HELO") return "250 test.example";
    const { size, smtpUtf8, pipelining, startTls, login } = this.#around.options;
    const offers = ["test.example", "8BITMIME", "ENHANCEDSTATUSCODES"];
    if (size !== undefined) offers.push(`SIZE ${size}`);
    if (smtpUtf8) offers.push("SMTPUTF8");
    if (pipelining) offers.push("PIPELINING");
    if (startTls && !this.#session.secure) offers.push("STARTTLS");
    if (login !== undefined) offers.push("AUTH PLAIN LOGIN");
    return offers.map((offer, index) => `250${index < offers.length - 1 ? "-" : " "}${offer}`).join("\r\n");
  }

  #startTls(): void {
    this.#write("220 2.0.0 Ready to start TLS");
    this.#socket.removeAllListeners("data");
    this.#session.secure = true;
    this.#socket = this.#session.socket = this.#around.secured(this.#plain);
    this.#listen();
  }

  #auth(line: string): void {
    const [, method, initial] = line.split(" ");
    if (method === "PLAIN" && initial) {
      this.#plainLogin(initial);
      return;
    }
    this.#expect = method === "LOGIN" ? "user" : "plain";
    this.#write(method === "LOGIN" ? "334 VXNlcm5hbWU6" : "334 ");
  }

  #credentials(line: string): void {
    const text = Buffer.from(line, "base64").toString();
    if (this.#expect === "plain") this.#plainLogin(line);
    else if (this.#expect === "password") this.#login(`${this.#user}:${text}`);
    else {
      this.#user = text;
      this.#expect = "password";
      this.#write("334 UGFzc3dvcmQ6");
    }
  }

  #plainLogin(initial: string): void {
    this.#login(Buffer.from(initial, "base64").toString().split("\0").slice(1).join(":"));
  }

  #login(login: string): void {
    this.#expect = "command";
    if (login !== this.#around.options.login) {
      this.#write("535 5.7.8 Authentication failed");
      return;
    }
    this.#session.login = login;
    this.#write("235 2.7.0 Accepted");
  }
}
