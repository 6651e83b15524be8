import type { Command } from "commander";
import { closest } from "../configuration/closest.ts";
import type { QueueStats } from "../database/ledger.ts";
import { PosthasteError } from "../errors.ts";
import { answer } from "./context.ts";
import { withLedger } from "./with-ledger.ts";

/** Registers `posthaste pause`: stops a transport until it is resumed. */
export function registerPause(program: Command): void {
  program
    .command("pause")
    .description("Stops a transport: its mail waits until `posthaste resume`; what is being sent now ends.")
    .argument("<transport>", "its name in the configuration")
    .option("--reason <text>", "shown by `posthaste status`")
    .option("--json", "print one JSON document")
    .action(async (name: string, options: { reason?: string; json?: boolean }, command: Command) => {
      await withLedger(command, async (ledger) => {
        requireTransport(await ledger.stats(), name);
        await ledger.pause(name, options.reason ?? null);
      });
      const text = `Transport ${name} is paused; \`posthaste resume ${name}\` lets it send again.`;
      answer(options.json, { transport: name, state: "paused", reason: options.reason ?? null }, text);
    });
}

/** A mistyped name would stop nothing. Before the first worker has run, no names are known and each one is believed. */
function requireTransport({ transports }: QueueStats, name: string): void {
  const names = transports.map((transport) => transport.name);
  if (names.length === 0 || names.includes(name)) return;
  const guess = closest(name, names);
  throw new PosthasteError(
    `No worker has had a transport ${JSON.stringify(name)}; ${guess === null ? `known are ${names.join(", ")}.` : `did you mean ${guess}?`}`,
  );
}
