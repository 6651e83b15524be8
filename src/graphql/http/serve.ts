import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { makeSchema } from "postgraphile";
import type { HttpSettings } from "../../config.ts";
import { schemaError } from "../../database/check-schema.ts";
import { checkHttpLogin, schemaForHttp } from "../../database/http-login.ts";
import { readMeasurementsAsOperator } from "../../database/measurements.ts";
import { connectionError, createPool } from "../../database/pool.ts";
import { PosthasteError } from "../../errors.ts";
import { describeError, type Log } from "../../log.ts";
import { createHttpMetrics } from "../../metrics/metrics.ts";
import { loadTemplates, type TemplateCatalog } from "../../templates/load.ts";
import { ownPreset } from "../own-preset.ts";
import { createFailures } from "./failures.ts";
import { Gateway } from "./gateway.ts";
import { createHandler } from "./handler.ts";
import { createReadiness } from "./health.ts";
import type { Identity } from "./identity.ts";
import { createVerifier } from "./verify-token.ts";

/** How the HTTP server is run. */
export interface ServeOptions {
  readonly settings: HttpSettings;
  /** Of a login that can become a viewer or an operator and nothing else. */
  readonly connectionString: string;
  /** Absolute path of the folder of templates. */
  readonly emails: string;
  /** Read templates again that change on disk. */
  readonly watch: boolean;
  /** Who a request without a token is: for development, on loopback only. null: nobody. */
  readonly withoutToken: Identity | null;
  /** Whether the login is checked. Only for a database that is thrown away is it not. */
  readonly checkLogin: boolean;
  readonly log: Log;
}

/** A running HTTP server. */
export interface HttpServer {
  /** `http://127.0.0.1:5680` */
  readonly url: string;
  /** Takes no more requests, ends those that are running, and closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts GraphQL over HTTP.
 * @throws PosthasteError when it may not listen there, the login can do too much, the schema does not fit, or the database cannot be reached
 */
export async function startHttp(options: ServeOptions): Promise<HttpServer> {
  const { settings, connectionString, log } = options;
  checkSettings(options);
  const pool = createPool({ connectionString, applicationName: "posthaste http", max: 10 });
  // Of its own: health is asked for most when all others are busy.
  const healthPool = createPool({ connectionString, applicationName: "posthaste http health", max: 1 });
  const metricsPool = createPool({
    connectionString,
    applicationName: "posthaste http metrics",
    max: 1,
    statementTimeout: 10_000,
    patience: 15_000,
  });
  const templates = catalogOnDemand(options);
  const closing: (() => Promise<unknown>)[] = [
    () => pool.end(),
    () => healthPool.end(),
    () => metricsPool.end(),
    templates.close,
  ];
  const stop = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    await checkDatabase(options, healthPool);
    const preset = ownPreset({
      pool,
      settings,
      templates: templates.get,
      onMaskedError: (errorId, error) => log("http_failed", { errorId, error: describeError(error) }),
    });
    const { schema, resolvedPreset } = await makeSchema(preset);
    const gateway = new Gateway({ schema, preset: resolvedPreset });
    closing.push(() => gateway.release());
    const handler = createHandler({
      gateway,
      gatekeeper: {
        verifier: settings.tokens && createVerifier(settings.tokens),
        failures: createFailures(),
        withoutToken: options.withoutToken,
      },
      origins: { origins: settings.origins, loopbackOnly: options.withoutToken !== null },
      graphiql: settings.graphiql,
      metrics: createHttpMetrics(() =>
        readMeasurementsAsOperator(metricsPool).catch((error: unknown) => {
          log("measuring_failed", { error: describeError(error) });
          throw error;
        }),
      ),
      // Newer: a deploy rolls, and the migration comes first. Who runs goes on until it is replaced, as the workers do.
      readiness: createReadiness(async () =>
        ["ok", "newer"].includes((await schemaForHttp(healthPool)).state),
      ),
      log,
    });
    const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, handler);
    closing.push(() => close(server));
    const url = await listen(server, settings);
    log("http_started", { url });
    return {
      url,
      async stop() {
        await stop();
        log("http_stopped");
      },
    };
  } catch (error) {
    await stop();
    throw connectionError(error, connectionString, "POSTHASTE_HTTP_DATABASE_URL");
  }
}

function checkSettings({ settings, withoutToken }: ServeOptions): void {
  const { host, tokens } = settings;
  if (["127.0.0.1", "::1", "localhost"].includes(host)) return;
  if (withoutToken) {
    throw new PosthasteError(
      `Without tokens only loopback is served, not ${host}: leave out --as, or listen on 127.0.0.1.`,
      {
        exitCode: 2,
      },
    );
  }
  if (!tokens) {
    throw new PosthasteError(
      `To listen on ${host}, tokens must be configured: set POSTHASTE_JWT_SECRET, POSTHASTE_JWT_PUBLIC_KEY or POSTHASTE_JWKS_URL. Without them only 127.0.0.1 is served.`,
      { exitCode: 2 },
    );
  }
}

async function checkDatabase(options: ServeOptions, pool: ReturnType<typeof createPool>): Promise<void> {
  // The schema comes first: the roles that a login must have are part of it.
  const error = schemaError(await schemaForHttp(pool));
  if (error) throw error;
  if (options.checkLogin) await checkHttpLogin(pool);
}

function catalogOnDemand({ emails, watch }: ServeOptions) {
  let catalog: Promise<TemplateCatalog> | undefined;
  return {
    get(): Promise<TemplateCatalog> {
      catalog ??= loadTemplates(emails, { watch, trial: true }).catch((error: unknown) => {
        catalog = undefined;
        throw error;
      });
      return catalog;
    },
    close: async (): Promise<void> => (await catalog?.catch(() => undefined))?.close(),
  };
}

async function listen(server: Server, { host, port }: HttpSettings): Promise<string> {
  const listening = once(server, "listening");
  server.listen(port, host);
  try {
    await listening;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new PosthasteError(
      `Cannot listen on ${host}, port ${port}: ${code}. Choose another with posthaste.http or --port.`,
      {
        cause,
      },
    );
  }
  const { port: chosen } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${chosen}`;
}

/** Ends idle connections at once, and the others after their answer. */
async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  await closed;
}
