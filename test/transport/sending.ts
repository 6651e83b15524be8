import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import type { Timeouts } from "../../src/config.ts";
import {
  createTransport,
  type GateAnswer,
  type SendRequest,
  type Transport,
} from "../../src/transport/transport.ts";
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from "../smtp-server.ts";

/** Long enough that no test meets them by chance. */
export const PATIENT: Timeouts = {
  connect: 10_000,
  greeting: 10_000,
  command: 10_000,
  finalReply: 10_000,
  render: 10_000,
};

/** A server and a transport to it, closed with the test. `url` changes the server's URL, e.g. adds credentials. */
export async function serverAndTransport(
  test: TestContext,
  options: SmtpServerOptions = {},
  settings: { url?: (url: string) => string; connections?: number; timeouts?: Partial<Timeouts> } = {},
): Promise<{ server: SmtpServer; transport: Transport }> {
  const server = await startSmtpServer(options);
  const url = settings.url?.(server.url) ?? server.url;
  const transport = createTransport(
    "default",
    { url, connections: settings.connections ?? 10, idempotencyHeader: null },
    { ...PATIENT, ...settings.timeouts },
  );
  test.after(async () => {
    await transport.close();
    await server.close();
  });
  return { server, transport };
}

/** A gate that says yes at once. */
export async function granted(): Promise<GateAnswer> {
  return { granted: true, notAfter: performance.now() + 5000, notAfterWall: Date.now() + 5000 };
}

/** A request for one small message. */
export function mail(
  id: string,
  changes: Partial<SendRequest> & { to?: string[]; body?: string } = {},
): SendRequest {
  const octets = Buffer.from(
    `Message-ID: <${id}@shop.example>\r\nSubject: ${id}\r\n\r\n${changes.body ?? "Hello"}\r\n`,
  );
  return {
    from: "no-reply@shop.example",
    recipients: (changes.to ?? ["ada@customer.example"]).map((wire) => ({
      wire,
      needsSmtpUtf8: /[^\x20-\x7e]/.test(wire),
    })),
    message: { size: octets.length, stream: () => Readable.from([octets], { objectMode: false }) },
    gate: granted,
    ...changes,
  };
}
