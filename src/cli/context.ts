import type { Command } from "commander";
import type { LoadedConfiguration, LoadOptions } from "../configuration/load.ts";
import { printable, printableJson } from "./printable.ts";

/** The configuration that the command's `--config` names. Throws a PosthasteError that lists what is wrong. */
export async function configurationOf(
  command: Command,
  options: { sends: boolean },
): Promise<LoadedConfiguration> {
  // A third of the time that `posthaste status` takes, which needs no configuration.
  const { loadConfiguration } = await import("../configuration/load.ts");
  return loadConfiguration(loadOptionsOf(command, options));
}

/** What `--config` says, as options of the loader. */
export function loadOptionsOf(command: Command, options: { sends: boolean }): LoadOptions {
  return { file: command.optsWithGlobals<{ config?: string }>().config, sends: options.sends };
}

/** Prints what a command answers: with `json` exactly one document and nothing else, otherwise text. Nothing that a terminal would obey. */
export function answer(json: boolean | undefined, document: unknown, text: string): void {
  process.stdout.write(json ? `${printableJson(document)}\n` : text === "" ? "" : `${printable(text)}\n`);
}
