import type { Command } from "commander";
import { registerAction } from "./act-on-emails.ts";

/** Registers `posthaste cancel`: withdraws mail that is still waiting. */
export function registerCancel(program: Command): void {
  registerAction(program, {
    name: "cancel",
    description: "Withdraws mail that is still waiting.",
    status: "PENDING",
    async one(ledger, id) {
      const { status } = await ledger.cancel(id);
      return status === "SENT" ? "sent to some already" : "cancelled";
    },
    matching: (ledger, filter, dryRun, max) => ledger.cancelMatching(filter, dryRun, max),
  });
}
