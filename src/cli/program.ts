import { Command } from "commander";
import { version } from "../package-root.ts";
import { registerCancel } from "./cancel.ts";
import { registerCheck } from "./check.ts";
import { registerConfigure } from "./configure.ts";
import { registerDemo } from "./demo.ts";
import { registerDev } from "./dev.ts";
import { registerEnqueue } from "./enqueue.ts";
import { registerErase } from "./erase.ts";
import { registerList } from "./list.ts";
import { registerMigrate } from "./migrate.ts";
import { registerPause } from "./pause.ts";
import { registerPreview } from "./preview.ts";
import { registerPurge } from "./purge.ts";
import { registerRender } from "./render.ts";
import { registerResume } from "./resume.ts";
import { registerRetry } from "./retry.ts";
import { registerServe } from "./serve.ts";
import { registerShow } from "./show.ts";
import { registerStart } from "./start.ts";
import { registerStatus } from "./status.ts";
import { registerToken } from "./token.ts";
import { registerWorker } from "./worker.ts";

/**
 * The command line. Each command loads what it needs when it runs, so that `--help` is quick. Errors are
 * thrown, for `reportError`.
 */
export function createProgram(): Command {
  const program = new Command("posthaste")
    .description("Transactional email from PostgreSQL.")
    .version(version)
    .option("--config <file>", "configuration file (default: graphile.config.*, then src/graphile.config.*)")
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", EPILOGUE);
  for (const register of COMMANDS) register(program);
  return program;
}

/** In the order of the help. */
const COMMANDS = [
  registerDemo,
  registerDev,
  registerMigrate,
  registerCheck,
  registerStart,
  registerWorker,
  registerServe,
  registerToken,
  registerStatus,
  registerEnqueue,
  registerList,
  registerShow,
  registerRetry,
  registerCancel,
  registerPause,
  registerResume,
  registerPurge,
  registerErase,
  registerConfigure,
  registerPreview,
  registerRender,
];

const EPILOGUE = `
Environment:
  DATABASE_URL     the PostgreSQL database, e.g. postgres://user@localhost/shop
  SMTP_URL         the mail server (transports.default.url), e.g. smtp://user:password@mail.example:587
  POSTHASTE_FROM   the sender (from), e.g. "Shop <no-reply@shop.example>"
  POSTHASTE_HTTP_DATABASE_URL   the same database for \`serve\`, by a login that can become a viewer or an operator and nothing else
  POSTHASTE_JWT_SECRET, POSTHASTE_JWT_PUBLIC_KEY or POSTHASTE_JWKS_URL   what tokens of \`serve\` are checked with
  POSTHASTE_LOG    json or text; default: text on a terminal
  DEBUG=posthaste  debug lines, and the stack of unexpected errors

Exit codes: 0 fine, 1 failure, 2 wrong usage, 57 the database is newer than the program.`;
