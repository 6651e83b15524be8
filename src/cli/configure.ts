import type { Command } from "commander";
import { closest } from "../configuration/closest.ts";
import { PosthasteError } from "../errors.ts";
import { answer } from "./context.ts";
import { withLedger } from "./with-ledger.ts";

/** Registers `posthaste configure`: changes a setting that lives in the database. */
export function registerConfigure(program: Command): void {
  program
    .command("configure")
    .description("Changes a setting of the database.")
    .argument(
      "<name>",
      "strict: whether a bad recipient, an unknown template or a missing parameter is an error for the caller; " +
        "environment: workers of another one send nothing",
    )
    .argument("<value>", "on or off for strict; a word for environment, e.g. staging")
    .option("--json", "print one JSON document")
    .action(async (name: string, text: string, { json }: { json?: boolean }, command: Command) => {
      const value = settingOf(name, text);
      await withLedger(command, (ledger) => ledger.configure(name, value));
      answer(json, { name, value }, `${name} is ${text} now.`);
    });
}

function settingOf(name: string, text: string): unknown {
  const read = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
  if (read === undefined) {
    const guess = closest(name, Object.keys(SETTINGS));
    throw usage(
      `There is no setting ${JSON.stringify(name)}; ${guess === null ? "there are strict and environment." : `did you mean ${guess}?`}`,
    );
  }
  return read(text);
}

const SETTINGS: Readonly<Record<string, (text: string) => unknown>> = {
  strict(text) {
    if (["on", "true"].includes(text)) return true;
    if (["off", "false"].includes(text)) return false;
    throw usage(`strict must be on or off; it was ${JSON.stringify(text)}.`);
  },
  environment(text) {
    if (/^[A-Za-z0-9_-]{1,63}$/.test(text)) return text;
    throw usage(`environment must be a word of letters, digits, - and _; it was ${JSON.stringify(text)}.`);
  },
};

function usage(sentence: string): PosthasteError {
  return new PosthasteError(sentence, { exitCode: 2 });
}
