import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { MailDev as MailDevServer } from "maildev";
import { PosthasteError } from "../../errors.ts";

/** A mail server with a page that shows what it caught. */
export interface MailView {
  /** `smtp://127.0.0.1:port`. */
  readonly smtpUrl: string;
  /** The page; `/api/email` is the same as JSON. */
  readonly url: string;
  close(): Promise<void>;
}

/** Mails that are kept; the oldest go first. */
const KEPT = 500;

/**
 * Starts MailDev, on the loopback interface only. It passes nothing on.
 * @param options.directory where the mails are kept between starts
 * @throws PosthasteError when maildev is not installed
 */
export async function startMailView(options: {
  smtpPort: number;
  webPort: number;
  directory: string;
}): Promise<MailView> {
  const MailDev = await load();
  const mailDev = new MailDev({
    smtp: options.smtpPort,
    ip: "127.0.0.1",
    web: options.webPort,
    webIp: "127.0.0.1",
    mailDirectory: options.directory,
    maxEmails: KEPT,
    silent: true,
  });
  const { api } = await quietly(() => mailDev.start());
  if (api) keepOthersOut(api.server.server as Server);
  return {
    smtpUrl: `smtp://127.0.0.1:${options.smtpPort}`,
    url: `http://127.0.0.1:${options.webPort}`,
    close: () => mailDev.stop(),
  };
}

async function load(): Promise<typeof MailDevServer> {
  try {
    return (await import("maildev")).MailDev;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new PosthasteError(
      "dev catches mail with the package maildev, which is not installed. Run `npm install --save-dev maildev@3.0.0`.",
      { cause },
    );
  }
}

/** It announces itself on stdout even when it is told to be silent. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { info } = console;
  console.info = () => undefined;
  try {
    return await work();
  } finally {
    console.info = info;
  }
}

/**
 * MailDev lets every page that is open in the browser read its answers (it mirrors the Origin header), and takes any Host.
 * Caught mail holds links that log people in, so both are refused.
 */
function keepOthersOut(server: Server): void {
  guard(server, "request", (answer: ServerResponse) => {
    answer.writeHead(403).end("Forbidden: open it by the address that dev printed.\n");
  });
  guard(server, "upgrade", (socket: Duplex) => {
    socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
  });
}

/** Puts a check in front of the listeners that are there. */
function guard<Answer>(server: Server, event: "request" | "upgrade", refuse: (answer: Answer) => void): void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  server.on(event, (request: IncomingMessage, answer: Answer, ...rest: unknown[]) => {
    if (!isOurs(request)) return refuse(answer);
    for (const listener of listeners) listener.call(server, request, answer, ...rest);
  });
}

function isOurs({ headers }: IncomingMessage): boolean {
  const { host = "", origin } = headers;
  if (!/^(127\.0\.0\.1|localhost):\d+$/.test(host)) return false;
  return origin === undefined || origin === `http://${host}`;
}
