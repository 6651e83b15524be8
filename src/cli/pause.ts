import type { Command } from "commander";
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
      const known = await withLedger(command, async (ledger) => {
        const before = await ledger.transports();
        await ledger.pause(name, options.reason ?? null);
        return before.some((transport) => transport.name === name);
      });
      const unknown = known
        ? ""
        : " No worker has run yet, so nobody can say whether there is such a transport.";
      const text = `Transport ${name} is paused; \`posthaste resume ${name}\` lets it send again.${unknown}`;
      answer(options.json, { transport: name, state: "paused", known, reason: options.reason ?? null }, text);
    });
}
