import type { Command } from "commander";

/** Registers `posthaste start`: migrate and worker in one process. */
export function registerStart(program: Command): void {
  program
    .command("start")
    .description(
      "Installs or updates the schema, then sends mail until it is stopped: migrate and worker in one.",
    )
    .option("--no-roles", "leave out Posthaste's roles and their grants, where somebody else manages roles")
    .action(async ({ roles }: { roles: boolean }, command: Command) => {
      const { runWorker } = await import("./run-worker.ts");
      await runWorker(command, { once: false, migrate: { roles } });
    });
}
