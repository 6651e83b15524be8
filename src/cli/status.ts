import type { Command } from "commander";
import type { QueueStats } from "../database/ledger.ts";
import { answer } from "./context.ts";
import { oneLine } from "./printable.ts";
import { table } from "./table.ts";
import { withLedger } from "./with-ledger.ts";

/** Registers `posthaste status`: is mail flowing, and if not why? Exit code 1 when something is wrong. */
export function registerStatus(program: Command): void {
  program
    .command("status")
    .description("Says whether mail flows, and if not why. Exit code 1 when something is wrong.")
    .option("--json", "print one JSON document")
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      await withLedger(command, async (ledger, schema) => {
        const stats = await ledger.stats();
        const { flowOf } = await import("./flow.ts");
        const { schemaError } = await import("../database/check-schema.ts");
        const flow = flowOf(stats, Date.now());
        const outdated = schemaError(schema)?.message;
        const state = outdated === undefined ? flow.state : "stopped";
        const words = [...(outdated === undefined ? [] : [outdated]), ...flow.words].map(oneLine);
        answer(json, { state, words, ...stats }, `${words.join("\n")}\n\n${table(countsOf(stats))}`);
        if (state === "stopped") process.exitCode = 1;
      });
    });
}

function countsOf(stats: QueueStats): readonly (readonly string[])[] {
  const about = stats.ended_are_estimates ? " (about)" : "";
  return [
    ["PENDING", `${stats.pending}${stats.due > 0 ? ` (${stats.due} due)` : ""}`],
    [
      "SENDING",
      `${stats.sending}${stats.expired_leases > 0 ? ` (${stats.expired_leases} with a lease that ran out)` : ""}`,
    ],
    ["SENT", `${stats.sent}${about}`],
    ["FAILED", String(stats.failed)],
    ["CANCELLED", `${stats.cancelled}${about}`],
    ["workers", String(stats.live_workers)],
    ["environment", stats.environment],
    ...stats.transports.map(({ name, state, default: isDefault }) => [
      `transport ${name}`,
      `${STATES[state]}${isDefault ? ", the default one" : ""}`,
    ]),
  ];
}

const STATES = { closed: "serves", open: "stopped", paused: "paused" } as const;
