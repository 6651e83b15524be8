import type { Command } from "commander";
import { METRICS_PORT } from "./metrics-port.ts";

/** Registers `posthaste worker`: sends mail until it is stopped. */
export function registerWorker(program: Command): void {
  program
    .command("worker")
    .description("Sends mail until it is stopped by SIGTERM or Ctrl+C.")
    .option("--once", "send until nothing is due and nothing is being sent, then end; for cron")
    .option(...METRICS_PORT)
    .action(async ({ once, metricsPort }: { once?: boolean; metricsPort?: number }, command: Command) => {
      const { runWorker } = await import("./run-worker.ts");
      await runWorker(command, { once: once ?? false, migrate: null, metricsPort });
    });
}
