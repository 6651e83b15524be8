// What Posthaste is held against, (a): React Email and nodemailer in a loop, without any database, guarantee or retry.
import { createTransport } from "nodemailer";
import { CONCURRENCY, CONNECTIONS, createPlainRenderer, FROM } from "./mail.ts";
import { answerQuestions, now } from "./rpc.ts";

interface Mail {
  readonly recipient: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const render = await createPlainRenderer();
const transport = createTransport({
  url: process.env.SMTP_URL!,
  pool: true,
  maxConnections: CONNECTIONS,
} as Parameters<typeof createTransport>[0]);

answerQuestions({
  /** Sends them; when it began. */
  send(mails: readonly Mail[]): number {
    const began = now();
    const left = mails.values();
    for (let one = 0; one < CONCURRENCY; one += 1) void sendThese(left);
    return began;
  },
  stop: () => transport.close(),
});

async function sendThese(mails: IterableIterator<Mail>): Promise<void> {
  for (const { recipient, parameters } of mails) {
    const rendered = await render(parameters);
    await transport.sendMail({ from: FROM, to: recipient, ...rendered });
  }
}
