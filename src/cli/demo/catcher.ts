import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { ParsedMail } from "mailparser";
import { PosthasteError } from "../../errors.ts";

/** A mail as the server got it. */
export interface CaughtMail {
  /** Sender and recipients of the SMTP dialogue. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly message: ParsedMail;
}

/** A mail server that keeps what it gets and passes nothing on. */
export interface Catcher {
  /** `smtp://127.0.0.1:port`. */
  readonly url: string;
  /** In order of arrival. A mail is here before its sender gets the reply. */
  readonly caught: readonly CaughtMail[];
  close(): Promise<void>;
}

/**
 * Starts the mail server on a free port of the loopback interface.
 * @throws PosthasteError when smtp-server or mailparser is not installed
 */
export async function startCatcher(): Promise<Catcher> {
  const { SMTPServer, simpleParser } = await load();
  const caught: CaughtMail[] = [];
  const server = new SMTPServer({
    name: "demo.example",
    disabledCommands: ["AUTH", "STARTTLS"],
    onData(stream, session, done) {
      const { mailFrom, rcptTo } = session.envelope;
      const from = mailFrom ? mailFrom.address : "";
      buffer(stream)
        .then((bytes) => simpleParser(bytes))
        .then((message) =>
          caught.push({ envelope: { from, to: rcptTo.map(({ address }) => address) }, message }),
        )
        .then(() => done(), done);
    },
  });
  // A client that goes away in the middle is none of its business.
  server.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    caught,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function load() {
  try {
    const [{ SMTPServer }, { simpleParser }] = await Promise.all([
      import("smtp-server"),
      import("mailparser"),
    ]);
    return { SMTPServer, simpleParser };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new PosthasteError(
      "The demo's mail server needs the packages smtp-server and mailparser, which are not installed. " +
        "Run `npm install --save-dev smtp-server mailparser`.",
      { cause },
    );
  }
}
