import type { Command } from "commander";
import type { LoadedConfiguration } from "../configuration/load.ts";
import { PosthasteError } from "../errors.ts";
import { asFinding, type Finding, fine, wrong } from "./check-findings.ts";
import { answer, loadOptionsOf } from "./context.ts";

/** Registers `posthaste check`: is everything there that sending needs? Exit code 1 when something is not. */
export function registerCheck(program: Command): void {
  program
    .command("check")
    .description(
      "Validates the configuration, the database, every template with its samples, the transports, the stores and the journal.",
    )
    .option(
      "--no-connect",
      "leave out what the machine must have: the database, the transports, the stores and the journal",
    )
    .option("--database", "also render the mail that waits in the database, and list what no longer fits")
    .option("--json", "print one JSON document")
    .action(async (options: Options, command: Command) => {
      const findings = await check(command, options);
      const ok = findings.every((finding) => finding.ok);
      answer(options.json, { ok, findings }, findings.map(line).join("\n"));
      if (!ok) process.exitCode = 1;
    });
}

interface Options {
  readonly connect: boolean;
  readonly database?: true;
  readonly json?: boolean;
}

async function check(command: Command, { connect, database }: Options): Promise<readonly Finding[]> {
  const { readConfiguration } = await import("../configuration/load.ts");
  const loaded = await readConfiguration(loadOptionsOf(command, { sends: connect })).catch(asProblem);
  if (loaded instanceof PosthasteError) return [wrong("configuration", loaded.message)];
  const configuration = await checkConfiguration(loaded);
  const { checkTemplates } = await import("./check-templates.ts");
  const templates = await checkTemplates(loaded.config);
  const waiting = database ? await checkWaitingMail(loaded) : [];
  if (!connect) return [...configuration, ...templates, ...waiting];
  const { checkDatabase, checkTransports } = await import("./check-connections.ts");
  const { checkStores } = await import("./check-stores.ts");
  const { checkJournal } = await import("./check-journal.ts");
  const connections = await Promise.all([
    checkDatabase(loaded),
    checkTransports(loaded.config),
    checkStores(loaded.config),
    checkJournal(loaded.config),
  ]);
  return [...configuration, ...templates, ...connections.flat(), ...waiting];
}

async function checkWaitingMail(loaded: LoadedConfiguration): Promise<readonly Finding[]> {
  const { config, databaseUrl, databaseUrlName } = loaded;
  const subject = "waiting mail";
  if (databaseUrl === null) return [wrong(subject, "There is no DATABASE_URL.", "Set it.")];
  const { checkWaiting } = await import("./check-waiting.ts");
  const { checkedDatabaseUrl } = await import("../database/database-url.ts");
  const { explained } = await import("./with-ledger.ts");
  try {
    return await checkWaiting(config, checkedDatabaseUrl(databaseUrl, databaseUrlName));
  } catch (error) {
    const said = await explained(error, databaseUrl, "check");
    return [wrong(subject, said instanceof Error ? said.message : String(said))];
  }
}

async function checkConfiguration(loaded: LoadedConfiguration): Promise<readonly Finding[]> {
  const subject = "configuration";
  const findings = loaded.problems.map((problem) => wrong(subject, problem));
  const { parseMailbox } = await import("../message/addresses.ts");
  const { readSettings } = await import("../transport/settings.ts");
  const { from, transports } = loaded.config;
  if (from !== "" && parseMailbox(from) === null) {
    findings.push(
      wrong(subject, `posthaste.from cannot be parsed as an address; received ${JSON.stringify(from)}.`),
    );
  }
  for (const [name, settings] of transports) {
    if (settings.url === "") continue;
    try {
      readSettings(name, settings);
    } catch (error) {
      findings.push(asFinding(subject)(error));
    }
  }
  return findings.length > 0 ? findings : [fine(subject, loaded.file ?? "environment")];
}

function line({ ok, warning, subject, detail, hint }: Finding): string {
  const sentence = hint === null || /[.?!]$/.test(detail) ? detail : `${detail}.`;
  return `${warning ? "warn " : ok ? "ok   " : "ERROR"} ${subject}: ${sentence}${hint === null ? "" : ` ${hint}`}`;
}

function asProblem(error: unknown): PosthasteError {
  if (error instanceof PosthasteError && error.exitCode !== 2) return error;
  throw error;
}
