import type { Command } from "commander";
import { registerAction } from "./act-on-emails.ts";

/** Registers `posthaste retry`: sends FAILED mail again, with fresh attempts. */
export function registerRetry(program: Command): void {
  registerAction(program, {
    name: "retry",
    description: "Sends FAILED mail again with fresh attempts; recipients that have it are left out.",
    status: "FAILED",
    async one(ledger, id) {
      await ledger.retry(id);
      return "retried";
    },
    matching: (ledger, filter, dryRun, max) => ledger.retryMatching(filter, dryRun, max),
  });
}
