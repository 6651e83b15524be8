// An SMTP server that takes everything, keeps nothing, and tells when so many messages have come.

import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { answerQuestions, now } from "./rpc.ts";

const END = Buffer.from("\r\n.\r\n");
const REPLIES: Readonly<Record<string, string>> = {
  EHLO: "250-sink.example\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n250 SIZE 10485760\r\n",
  DATA: "354 Go ahead\r\n",
  QUIT: "221 2.0.0 Bye\r\n",
};

let accepted = 0;
let octets = 0;
let wanted: { readonly count: number; tell(at: number): void } | null = null;

const server = createServer({ noDelay: true }, (socket) => {
  let rest = Buffer.alloc(0);
  let reading = false;
  socket.on("error", () => socket.destroy());
  socket.write("220 sink.example ESMTP\r\n");
  socket.on("data", (piece) => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (;;) {
      const end = reading ? rest.indexOf(END) : rest.indexOf("\r\n");
      if (end < 0) return;
      const verb = reading ? "" : rest.toString("latin1", 0, 4).toUpperCase();
      if (reading) accept(end);
      rest = rest.subarray(end + (reading ? END.length : 2));
      reading = verb === "DATA";
      socket.write(REPLIES[verb] ?? "250 2.0.0 Ok\r\n");
      if (verb === "QUIT") socket.end();
    }
  });
});

function accept(size: number): void {
  accepted += 1;
  octets += size;
  if (wanted === null || accepted < wanted.count) return;
  wanted.tell(now());
  wanted = null;
}

server.listen(0, "127.0.0.1", () => {
  answerQuestions({
    url: () => `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** When so many further messages have been accepted: the time of the last one. */
    accepted: (count: number) =>
      new Promise<number>((tell) => {
        wanted = { count: accepted + count, tell };
      }),
    meanSize: () => octets / accepted,
    stop: () => server.close(),
  });
});
