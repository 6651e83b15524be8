import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { LoadedConfiguration } from "../../configuration/load.ts";
import { startHttp } from "../../graphql/http/serve.ts";
import { createLog } from "../../log.ts";
import { startPreview } from "../../templates/preview.ts";
import { guardProcess } from "../../worker/own-process.ts";
import { startWorker, untilSignalled } from "../../worker/worker.ts";
import { calledAs } from "../called-as.ts";
import { createTeardown, type Teardown } from "../teardown.ts";
import { developmentConfig } from "./config.ts";
import { openDatabase } from "./database.ts";
import { exampleCall } from "./example.ts";
import { freePort } from "./free-port.ts";
import { startMailView } from "./mail-view.ts";
import { claimFolder } from "./only-one.ts";

/** Where each part listens; when something else is there, on the next free port. */
const PORTS = { database: 5433, smtp: 1025, mail: 1080, graphql: 5680, preview: 3000 };

/**
 * Starts all parts, prints where they are, and runs until SIGINT or SIGTERM. What is kept lies in ./.posthaste.
 * @throws PosthasteError when a part does not start, or the database belongs to another environment
 */
export async function runDev(loaded: LoadedConfiguration, options: { preview: boolean }): Promise<void> {
  const teardown = createTeardown();
  const signalled = untilSignalled();
  try {
    // A signal during the start ends it, too.
    await Promise.race([start(loaded, options, teardown), signalled]);
    const signal = await signalled;
    say(`\n${signal}: stopping.`);
  } finally {
    await teardown.run();
  }
}

async function start(
  loaded: LoadedConfiguration,
  options: { preview: boolean },
  teardown: Teardown,
): Promise<void> {
  const home = await prepareHome();
  teardown.add(claimFolder(home));
  const { emails } = loaded.config;
  const preview = options.preview ? showPreview(emails, teardown) : null;
  const environment = developmentConfig(loaded.config, "", home).environment;
  const database = await openDatabase({
    databaseUrl: loaded.databaseUrl,
    databaseUrlName: loaded.databaseUrlName,
    directory: join(home, "postgres"),
    port: PORTS.database,
    environment,
    announce: say,
    teardown,
  });
  const mail = await startMailView({
    smtpPort: await freePort(PORTS.smtp),
    webPort: await freePort(PORTS.mail),
    directory: join(home, "mail"),
  });
  teardown.add(() => mail.close());
  const config = developmentConfig(loaded.config, mail.smtpUrl, home);
  const log = createLog();
  const { connectionString } = database;
  const guard = guardProcess(log, config.timeouts.render);
  teardown.add(async () => guard.close());
  const { preset } = loaded;
  const worker = await startWorker({ config, connectionString, preset, log, watch: true, guard });
  teardown.add(() => worker.stop());
  const http = await startHttp({
    settings: {
      ...config.http,
      host: "127.0.0.1",
      port: await freePort(PORTS.graphql),
      introspection: true,
      graphiql: true,
    },
    connectionString,
    emails,
    watch: true,
    // Whoever can reach it can reach the database as well.
    withoutToken: { role: "operator", owner: null, subject: "dev" },
    checkLogin: false,
    log,
  });
  teardown.add(() => http.stop());

  say("");
  say(`  database  ${database.shown}`);
  say(`  mail      ${mail.url}   whatever is sent ends there (${mail.smtpUrl})`);
  say(`  graphql   ${http.url}/graphiql   status and actions, as an operator`);
  if (preview) say(`  preview   ${await preview}`);
  say(
    `\nIn another terminal, for \`${calledAs("status")}\`, \`list\`, \`show\`, \`enqueue\`, \`check\` and psql:\n`,
  );
  if (database.embedded) say(`  export DATABASE_URL='${connectionString}'`);
  say(`  export SMTP_URL='${mail.smtpUrl}'`);
  const example = await exampleCall(emails);
  if (example) say(`\nTo enqueue a mail: psql "$DATABASE_URL"\n\n  ${example}`);
  say(`\nTemplates are read again when they change: ${emails}\nCtrl-C ends it.\n`);
}

/** The folder for what is kept between starts; git does not see it. Others may enter: PostgreSQL's user does as well. */
async function prepareHome(): Promise<string> {
  const home = resolve(".posthaste");
  await mkdir(home, { recursive: true });
  await writeFile(join(home, ".gitignore"), "*\n");
  return home;
}

/** Starts it, and answers with its address or why there is none: everything else works without it. */
async function showPreview(emails: string, teardown: Teardown): Promise<string> {
  try {
    const preview = await startPreview(emails, PORTS.preview);
    teardown.add(() => preview.close());
    return `${preview.url}   the templates with their sample parameters`;
  } catch (error) {
    return `is not there: ${(error as Error).message}`;
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
