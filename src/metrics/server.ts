import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { MetricsSettings } from "../config.ts";
import { PosthasteError } from "../errors.ts";
import type { Expose } from "./metrics.ts";

/** A server that answers scrapes and nothing else. */
export interface MetricsServer {
  /** `http://127.0.0.1:9464/metrics` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves /metrics, to whoever can reach it: for loopback and networks of one's own.
 * @throws PosthasteError when it cannot listen there
 */
export async function serveMetrics({ host, port }: MetricsSettings, expose: Expose): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    answer(request, response, expose).catch(() => response.destroy());
  });
  // A scraper needs one; nobody is to hold a worker's memory by opening thousands.
  server.maxConnections = 50;
  const listening = once(server, "listening");
  server.listen(port, host);
  try {
    await listening;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new PosthasteError(
      `Metrics cannot be served on ${host}, port ${port}: ${code}. Choose another with posthaste.metrics or --metrics-port; each worker on a machine needs its own.`,
      { cause },
    );
  }
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${chosen}/metrics`,
    close: () => close(server),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, expose: Expose): Promise<void> {
  const path = (request.url ?? "/").replace(/[?#].*$/s, "");
  const { method = "" } = request;
  const [status, contentType, body, headers] =
    path !== "/metrics"
      ? [404, PLAIN, "There is /metrics here.\n", {}]
      : method !== "GET" && method !== "HEAD"
        ? [405, PLAIN, "Use GET or HEAD.\n", { Allow: "GET, HEAD" }]
        : await expose().then((told) => [200, told.contentType, told.body, {}] as const);
  response.writeHead(status, {
    ...headers,
    "Cache-Control": "no-store",
    "Content-Length": Buffer.byteLength(body),
    "Content-Type": contentType,
    "X-Content-Type-Options": "nosniff",
  });
  response.end(method === "HEAD" ? undefined : body);
  // The rest of a body that nobody wants.
  if (!request.complete) request.destroy();
}

const PLAIN = "text/plain; charset=utf-8";

/** Ends idle connections at once, and the others after their answer. */
async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  await closed;
}
