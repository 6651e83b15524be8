import type { Command } from "commander";
import { answer } from "./context.ts";
import { withLedger } from "./with-ledger.ts";

/** Registers `posthaste resume`: lets a paused transport send again. */
export function registerResume(program: Command): void {
  program
    .command("resume")
    .description("Lets a paused transport send again; its waiting mail goes out in growing numbers.")
    .argument("<transport>", "its name in the configuration")
    .option("--json", "print one JSON document")
    .action(async (name: string, { json }: { json?: boolean }, command: Command) => {
      const state = await withLedger(command, async (ledger) => {
        await ledger.resume(name);
        const { transports } = await ledger.stats();
        return transports.find((transport) => transport.name === name)?.state ?? "closed";
      });
      // An operator's pause and the breaker are two reasons to stand still; only the first is his to lift.
      const text =
        state === "open"
          ? `Transport ${name} is not paused any more, but its mail server does not serve: see \`posthaste status\`.`
          : `Transport ${name} sends again.`;
      answer(json, { transport: name, state }, text);
    });
}
