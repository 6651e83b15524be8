import type { Command } from "commander";
import { METRICS_PORT } from "./metrics-port.ts";

/** Registers `posthaste start`: migrate and worker in one process. */
export function registerStart(program: Command): void {
  program
    .command("start")
    .description(
      "Installs or updates the schema, then sends mail until it is stopped: migrate and worker in one.",
    )
    .option("--no-roles", "leave out Posthaste's roles and their grants, where somebody else manages roles")
    .option(...METRICS_PORT)
    .action(async ({ roles, metricsPort }: { roles: boolean; metricsPort?: number }, command: Command) => {
      const { runWorker } = await import("./run-worker.ts");
      await runWorker(command, { once: false, migrate: { roles }, metricsPort });
    });
}
