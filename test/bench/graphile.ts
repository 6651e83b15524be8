// What Posthaste is held against, (b): the usual Graphile Worker task that renders a mail and sends it.
import { Logger, run } from "graphile-worker";
import { createTransport } from "nodemailer";
import { CONCURRENCY, CONNECTIONS, createPlainRenderer, FROM } from "./mail.ts";
import { answerQuestions, now } from "./rpc.ts";

const render = await createPlainRenderer();
const transport = createTransport({
  url: process.env.SMTP_URL!,
  pool: true,
  maxConnections: CONNECTIONS,
} as Parameters<typeof createTransport>[0]);

let onStart: (at: number) => void = () => {};
const runner = await run({
  preset: {
    worker: {
      connectionString: process.env.DATABASE_URL!,
      concurrentJobs: CONCURRENCY,
      localQueue: { size: 100 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      logger: new Logger(() => () => {}),
    },
  },
  taskList: {
    async send_email(payload) {
      const { recipient, parameters } = payload as { recipient: string; parameters: Record<string, unknown> };
      const rendered = await render(parameters);
      await transport.sendMail({ from: FROM, to: recipient, ...rendered });
    },
    nothing() {
      onStart(now());
    },
  },
});

answerQuestions({
  /** When the next job `nothing` starts. */
  started: () =>
    new Promise<number>((resolve) => {
      onStart = resolve;
    }),
  async stop() {
    await runner.stop();
    transport.close();
  },
});
