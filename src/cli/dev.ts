import type { Command } from "commander";
import { configurationOf } from "./context.ts";

/** Registers `posthaste dev`: database, worker, caught mail and preview, kept running until it is stopped. */
export function registerDev(program: Command): void {
  program
    .command("dev")
    .description(
      "Runs everything for development until Ctrl-C: PostgreSQL (or DATABASE_URL), a worker that reads changed templates, a mail server that shows what it caught, GraphiQL, and the preview. No mail leaves the machine.",
    )
    .option("--no-preview", "leave out the preview of the templates")
    .action(async ({ preview }: { preview: boolean }, command: Command) => {
      const loaded = await configurationOf(command, { sends: false });
      const { runDev } = await import("./dev/run.ts");
      await runDev(loaded, { preview });
    });
}
