import type { Socket } from "node:net";
import { Readable, type Writable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { type Failure, failure } from "./report.ts";

/** The answer of whoever holds the lease: may the final dot be written, and until when. */
export type GateAnswer =
  | {
      readonly granted: true;
      /** Latest moment by performance.now(). */
      readonly notAfter: number;
      /** Latest moment by Date.now(): a process that was stopped has a monotonic clock that may not show it. */
      readonly notAfterWall: number;
    }
  | { readonly granted: false };

/** What the body of one message needs. */
export interface HeldBodyOptions {
  /** Opens the message. */
  open(): Readable;
  gate(): Promise<GateAnswer>;
  /** The connection's socket: the gate is asked when the system has taken every octet. */
  socket(): Socket | null;
  /** Checked before the first octet; a failure means that nothing is written. */
  check(): Failure | null;
  /** A piece was taken. */
  onProgress(): void;
  /** The whole message is out and the gate is being asked. */
  onHeld(): void;
  /** The final dot is written next. */
  onHandOver(): void;
  /** Nothing may follow: the connection is to be destroyed without a dot. */
  onStop(failure: Failure): void;
}

/** nodemailer's dot-stuffing stream, piped to the socket. */
type Sink = Writable & { readonly readableLength: number };

/**
 * The message for SMTPConnection.send, which writes the final dot when the stream ends. After the server's 354 it is
 * piped; it yields the whole message, asks the gate, and ends only when the answer is a yes that is still good.
 * Whatever goes wrong before leaves the server with a message that has no end, which it must drop (RFC 5321 4.1.1.4).
 */
export function heldBody(options: HeldBodyOptions): Readable {
  let source: Readable | null = null;
  const body = new Readable({
    read() {},
    destroy(error, done) {
      source?.destroy();
      done(error);
    },
  });
  body.pipe = (sink) => {
    const refused = options.check();
    if (refused) {
      options.onStop(refused);
      return sink;
    }
    source = options.open();
    source.on("data", options.onProgress);
    source.once("error", () => options.onStop(failure("gate", "ESTREAM", "The message could not be read.")));
    source.once("end", () => hold(body, sink as unknown as Sink, options));
    source.pipe(sink, { end: false });
    return sink;
  };
  return body;
}

async function hold(body: Readable, sink: Sink, options: HeldBodyOptions): Promise<void> {
  await written(body, sink, options.socket());
  if (body.destroyed) return;
  options.onHeld();
  let answer: GateAnswer | null = null;
  try {
    answer = await options.gate();
  } catch {
    // The question could not be asked: the same as a no.
  }
  if (body.destroyed) return;
  const stop = (why: string) => options.onStop(failure("gate", "EGATE", why));
  if (answer === null) stop("The hand-over could not be asked for, so the final dot was withheld.");
  else if (!answer.granted) stop("The hand-over was not granted, so the final dot was withheld.");
  else if (performance.now() > answer.notAfter || Date.now() > answer.notAfterWall) {
    stop("The hand-over was granted too long ago, so the final dot was withheld.");
  } else {
    options.onHandOver();
    sink.end();
  }
}

/** A dot queued behind octets that a slow server has not taken would go out long after the grant, so wait for them. */
async function written(body: Readable, sink: Sink, socket: Socket | null): Promise<void> {
  const waiting = () => sink.writableLength + sink.readableLength + (socket?.writableLength ?? 0) > 0;
  for (let turn = 0; waiting() && !body.destroyed; turn += 1)
    await (turn < 5 ? setImmediate() : setTimeout(10));
}
