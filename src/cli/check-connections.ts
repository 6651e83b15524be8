import type { PosthasteConfig, Timeouts, TransportSettings } from "../config.ts";
import type { LoadedConfiguration } from "../configuration/load.ts";
import { checkSchema, schemaError } from "../database/check-schema.ts";
import { checkServer } from "../database/check-server.ts";
import { checkedDatabaseUrl, describeDatabase } from "../database/database-url.ts";
import { createLedger } from "../database/ledger.ts";
import { connect, createPool } from "../database/pool.ts";
import { PosthasteError } from "../errors.ts";
import { createTransport, type Transport } from "../transport/transport.ts";
import { judge } from "../transport/verdict.ts";
import { DEVELOPMENT, environmentMismatch } from "../worker/identity.ts";
import { asFinding, doubtful, type Finding, fine, wrong } from "./check-findings.ts";
import { explained } from "./with-ledger.ts";

/** Connects to the database, and compares its schema with this program's and its environment with the configuration's. */
export async function checkDatabase(loaded: LoadedConfiguration): Promise<Finding> {
  const subject = "database";
  const { databaseUrl, databaseUrlName, config } = loaded;
  const { environment } = config;
  if (databaseUrl === null)
    return wrong(subject, "There is no DATABASE_URL.", "Set it, or use --no-connect.");
  try {
    checkedDatabaseUrl(databaseUrl, databaseUrlName);
    const client = await connect({ connectionString: databaseUrl, applicationName: "posthaste check" });
    const outdated = await checkServer(client)
      .then(() => checkSchema(client))
      .then(schemaError)
      .finally(() => client.end());
    if (outdated) return wrong(subject, outdated.message);
    const found = await environmentOf(databaseUrl);
    if (found !== environment) {
      // A developer's database is served by `dev`, and has nothing to be mended.
      const finding = found === DEVELOPMENT ? doubtful : wrong;
      return finding(subject, environmentMismatch(found, environment).message);
    }
    return fine(subject, `${describeDatabase(databaseUrl)} holds the schema of this version.`);
  } catch (error) {
    return asFinding(subject)(await explained(error, databaseUrl, "check"));
  }
}

async function environmentOf(connectionString: string): Promise<string> {
  const pool = createPool({ connectionString, applicationName: "posthaste check", max: 1 });
  return createLedger(pool)
    .stats()
    .then((stats) => stats.environment)
    .finally(() => pool.end());
}

/** Connects to each mail server as for a send: greeting, TLS, login. No mail is sent. */
export function checkTransports(config: PosthasteConfig): Promise<readonly Finding[]> {
  const checks = [...config.transports].map(async ([name, settings]) => {
    const subject = `transport ${name}`;
    const transport = settings.url === "" ? null : openTransport(name, settings, config.timeouts);
    // What is wrong with its settings was reported with the configuration.
    if (transport === null) return [];
    try {
      const report = await transport.probe();
      if (report.failure === null) return [fine(subject, "greets, and accepts TLS and login as configured.")];
      const { message, phase } = judge(report);
      // It says itself what to do.
      const hint = message.includes("does not speak TLS") ? null : (HINTS[phase] ?? null);
      return [wrong(subject, message, hint)];
    } finally {
      await transport.close();
    }
  });
  return Promise.all(checks).then((findings) => findings.flat());
}

function openTransport(name: string, settings: TransportSettings, timeouts: Timeouts): Transport | null {
  try {
    return createTransport(name, settings, timeouts);
  } catch (error) {
    if (error instanceof PosthasteError) return null;
    throw error;
  }
}

const HINTS: Readonly<Record<string, string>> = {
  connect: "Are host and port right, is the server up, and does a firewall let the connection through?",
  tls: "Does the server's certificate fit the host name, and does the port expect smtp:// or smtps://?",
  auth: "Are user and password right, and percent-encoded in the URL?",
};
