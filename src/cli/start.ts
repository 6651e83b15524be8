import type { Command } from "commander";
import { METRICS_PORT } from "./metrics-port.ts";

/** Registers `posthaste start`: migrate, worker and, where it has its own login, the HTTP server in one process. */
export function registerStart(program: Command): void {
  program
    .command("start")
    .description(
      "Installs or updates the schema, then sends mail until it is stopped: migrate and worker in one, and serve where POSTHASTE_HTTP_DATABASE_URL is set.",
    )
    .option("--no-roles", "leave out Posthaste's roles and their grants, where somebody else manages roles")
    .option(...METRICS_PORT)
    .action(async ({ roles, metricsPort }: { roles: boolean; metricsPort?: number }, command: Command) => {
      const { runWorker } = await import("./run-worker.ts");
      const { serveConfigured } = await import("./serve.ts");
      const beside = process.env.POSTHASTE_HTTP_DATABASE_URL ? { beside: serveConfigured } : {};
      await runWorker(command, { once: false, migrate: { roles }, metricsPort, ...beside });
    });
}
