import { CommanderError } from "commander";
import { withMaskedUrls } from "../configuration/masked.ts";
import { PosthasteError } from "../errors.ts";
import { printable } from "./printable.ts";

/** Says on stderr what went wrong, in one sentence where a person can act on it. Returns the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return reportUsage(error);
  const known = error instanceof PosthasteError;
  const message = error instanceof Error ? error.message || error.name : `thrown: ${String(error)}`;
  if (/\bposthaste\b/.test(process.env.DEBUG ?? "")) {
    say(withMaskedUrls(error instanceof Error ? chain(error) : message));
  } else {
    // Our own messages hold nothing secret, and may hold URLs as examples.
    say(known ? message : `unexpected error: ${withMaskedUrls(message)} (DEBUG=posthaste shows where)`);
  }
  return known ? error.exitCode : 1;
}

function reportUsage(error: CommanderError): number {
  // Help and version were asked for, and are printed.
  if (error.exitCode === 0) return 0;
  // Without a command the help is the answer; it is on stderr already.
  if (error.code !== "commander.help") {
    say(error.message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)$/s, "; did you mean $1?"));
  }
  return 2;
}

function chain(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\nCaused by: ${chain(error.cause)}` : stack;
}

function say(text: string): void {
  process.stderr.write(`posthaste: ${printable(text)}\n`);
}
