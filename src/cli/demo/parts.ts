import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { validateConfiguration } from "../../configuration/validate.ts";
import { startEmbedded } from "../../database/embedded.ts";
import { createLedger } from "../../database/ledger.ts";
import { migrate } from "../../database/migrate.ts";
import { connect, createPool } from "../../database/pool.ts";
import { PosthasteError } from "../../errors.ts";
import { createLog } from "../../log.ts";
import { packageRoot } from "../../package-root.ts";
import { DEVELOPMENT } from "../../worker/identity.ts";
import { startWorker } from "../../worker/worker.ts";
import type { Teardown } from "../teardown.ts";
import { type Catcher, startCatcher } from "./catcher.ts";
import { duration, note, result } from "./print.ts";
import { openShop, type Shop } from "./shop.ts";
import { demoTemplates } from "./template.ts";

/** What the story is played with. */
export interface Parts {
  readonly shop: Shop;
  readonly catcher: Catcher;
  /** The template's file, for people. */
  readonly template: string;
}

/** Starts everything that the demo needs and tells how long it took. Never uses DATABASE_URL, SMTP_URL or a configuration file. */
export async function startParts(teardown: Teardown): Promise<Parts> {
  note("");
  const scratch = await mkdtemp(join(tmpdir(), "posthaste-demo-"));
  teardown.add(() => rm(scratch, { recursive: true, force: true }));
  const templates = await demoTemplates(packageRoot, scratch);

  const catcher = await startCatcher();
  teardown.add(() => catcher.close());
  // The server itself notes when each transaction was committed, so that no time below is guessed.
  const database = await timed("PostgreSQL is started", () =>
    startEmbedded({ settings: { track_commit_timestamp: "on" }, announce: note }),
  );
  teardown.add(() => database.stop());
  const { connectionString } = database;
  await timed("posthaste migrate: Posthaste's and Graphile Worker's tables and functions are installed", () =>
    install(connectionString),
  );

  const worker = await timed("posthaste worker: a worker is started", () =>
    startWorker({
      config: configure(templates.folder, scratch, catcher.url),
      connectionString,
      log: complaintsOnly(),
    }),
  );
  teardown.add(() => worker.stop());
  const client = await connect({ connectionString, applicationName: "demo shop" });
  teardown.add(() => client.end());
  return { shop: await openShop(client), catcher, template: templates.file };
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const done = await work();
  result(`${what} (${duration(performance.now() - began)})`);
  return done;
}

async function install(connectionString: string): Promise<void> {
  await migrate({ connectionString });
  const pool = createPool({ connectionString, applicationName: "posthaste demo", max: 1 });
  await createLedger(pool).configure("environment", DEVELOPMENT);
  await pool.end();
}

function configure(emails: string, scratch: string, url: string) {
  const options = {
    from: "Posthaste Demo <no-reply@shop.example>",
    emails,
    journal: join(scratch, "journal"),
    environment: DEVELOPMENT,
    transports: { default: { url } },
  };
  const { config, problems } = validateConfiguration({
    options,
    directory: scratch,
    environment: {},
    sends: true,
  });
  if (problems.length === 0) return config;
  throw new PosthasteError(`The demo's own configuration is not valid: ${problems.join(" ")}`);
}

/** The worker's log would be between the lines of the story; only what is wrong is worth that. */
function complaintsOnly() {
  const stream = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      if (/ (WARN|ERROR) /.test(line)) process.stderr.write(line);
      done();
    },
  });
  return createLog({ stream, format: "text" });
}
