import { type Command, Option } from "commander";
import type { PosthasteConfig } from "../config.ts";
import { PosthasteError } from "../errors.ts";
import type { HttpServer } from "../graphql/http/serve.ts";
import type { Log } from "../log.ts";
import { configurationOf } from "./context.ts";
import { createTeardown } from "./teardown.ts";

/** Registers `posthaste serve`: GraphQL over HTTP until it is stopped. */
export function registerServe(program: Command): void {
  program
    .command("serve")
    .description(
      "Serves status and actions over GraphQL at /graphql, with /metrics, /livez and /readyz, until it is stopped.",
    )
    .option("--host <address>", "address to listen on (default: posthaste.http.host, else 127.0.0.1)")
    .option("--port <number>", "port to listen on (default: posthaste.http.port, else 5680)", portOf)
    .addOption(
      new Option(
        "--as <role>",
        "who a request without a token is; for development, on loopback only",
      ).choices(["viewer", "operator"]),
    )
    .action(async (options: Options, command: Command) => {
      const { untilSignalled } = await import("../worker/worker.ts");
      const signalled = untilSignalled();
      const { config } = await configurationOf(command, { sends: false });
      const { createLog } = await import("../log.ts");
      const teardown = createTeardown();
      try {
        const server = await serveConfigured(withOptions(config, options), createLog(), options.as);
        teardown.add(() => server.stop());
        await signalled;
      } finally {
        await teardown.run();
      }
    });
}

/** Starts the HTTP server as the configuration says. */
export async function serveConfigured(
  config: PosthasteConfig,
  log: Log,
  as?: "viewer" | "operator",
): Promise<HttpServer> {
  const { startHttp } = await import("../graphql/http/serve.ts");
  const { checkedDatabaseUrl } = await import("../database/database-url.ts");
  return startHttp({
    settings: config.http,
    connectionString: checkedDatabaseUrl(
      requireHttpUrl(process.env.POSTHASTE_HTTP_DATABASE_URL),
      "POSTHASTE_HTTP_DATABASE_URL",
    ),
    emails: config.emails,
    watch: config.environment !== "production",
    withoutToken: as === undefined ? null : { role: as, owner: null, subject: `${as} on loopback` },
    checkLogin: true,
    log,
  });
}

function withOptions(config: PosthasteConfig, { host, port }: Options): PosthasteConfig {
  const { http } = config;
  return { ...config, http: { ...http, host: host ?? http.host, port: port ?? http.port } };
}

interface Options {
  readonly host?: string;
  readonly port?: number;
  readonly as?: "viewer" | "operator";
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new PosthasteError(`--port must be a number from 0 to 65535; it was ${JSON.stringify(text)}.`, {
    exitCode: 2,
  });
}

function requireHttpUrl(url: string | undefined): string {
  if (url) return url;
  throw new PosthasteError(
    "There is no POSTHASTE_HTTP_DATABASE_URL: set it to the same database with a login of its own, which can become posthaste_viewer or " +
      "posthaste_operator and nothing else: create role shop_http login noinherit password '…'; grant posthaste_viewer, posthaste_operator to shop_http;",
    { exitCode: 2 },
  );
}
