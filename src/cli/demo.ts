import type { Command } from "commander";

/** Registers `posthaste demo`: the main job from a shop's transaction to the mail as received, in one go. */
export function registerDemo(program: Command): void {
  program
    .command("demo")
    .description(
      "Shows an order's confirmation on its way, on a PostgreSQL and a mail server of its own, and ends. Touches no database of yours.",
    )
    .action(async () => {
      const { runDemo } = await import("./demo/run.ts");
      await runDemo();
    });
}
