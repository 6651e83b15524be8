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
      const { state, waiting, workers } = await withLedger(command, async (ledger) => {
        await ledger.resume(name);
        const { transports, live_workers } = await ledger.stats();
        const state = transports.find((transport) => transport.name === name)?.state ?? "closed";
        return { state, waiting: await ledger.waiting(name), workers: live_workers };
      });
      // An operator's pause and the breaker are two reasons to stand still; only the first is his to lift.
      const text =
        state === "open"
          ? `Transport ${name} is not paused any more, but its mail server does not serve: see \`posthaste status\`.`
          : `Transport ${name} sends again. ${outlook(waiting, workers)}`;
      answer(json, { transport: name, state, waiting }, text);
    });
}

/** Nothing moves in the moment of the command: its mail has no jobs, and the next maintenance adds them. */
function outlook(waiting: number, workers: number): string {
  if (waiting === 0) return "No mail waits for it.";
  const count =
    waiting >= 10_000
      ? "10,000 mails or more wait"
      : waiting === 1
        ? "1 mail waits"
        : `${waiting} mails wait`;
  if (workers === 0) return `${count} for it, and no worker is running: start one with \`posthaste worker\`.`;
  return `${count} for it; what is due goes out within 15 s, a few at first.`;
}
