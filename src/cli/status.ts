import type { Command } from "commander";
import type { QueueStats, QueueTroubles } from "../database/ledger.ts";
import { answer } from "./context.ts";
import { unlessOlder } from "./older-schema.ts";
import { oneLine } from "./printable.ts";
import { table } from "./table.ts";
import { withLedger } from "./with-ledger.ts";

/** Registers `posthaste status`: is mail flowing, and if not why? Exit code 1 when it is not. */
export function registerStatus(program: Command): void {
  program
    .command("status")
    .description(
      "Says whether mail flows, and if not why. Exit code 1 when it does not, also when no worker runs.",
    )
    .option("--json", "print one JSON document")
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      await withLedger(command, async (ledger, schema) => {
        const stats = await ledger.stats();
        const troubles = await unlessOlder(schema, ledger.troubles(), NONE);
        const { flowOf } = await import("./flow.ts");
        const { schemaError } = await import("../database/check-schema.ts");
        const flow = flowOf(stats, troubles, Date.now());
        const outdated = schemaError(schema)?.message;
        const state = outdated === undefined ? flow.state : "stopped";
        const words = [...(outdated === undefined ? [] : [outdated]), ...flow.words].map(oneLine);
        const counts = table(countsOf(stats, troubles));
        answer(json, { state, words, ...stats, ...troubles }, `${words.join("\n")}\n\n${counts}`);
        if (state !== "flowing") process.exitCode = 1;
      });
    });
}

const NONE: QueueTroubles = {
  without_transport: [],
  worker_transports: [],
  failed_recently: [],
  abandoned: 0,
  abandoned_until: null,
};

function countsOf(stats: QueueStats, troubles: QueueTroubles): readonly (readonly string[])[] {
  const about = stats.ended_are_estimates ? " (about)" : "";
  return [
    ["PENDING", `${stats.pending}${stats.due > 0 ? ` (${stats.due} due)` : ""}`],
    [
      "SENDING",
      `${stats.sending}${stats.expired_leases > 0 ? ` (${stats.expired_leases} with a lease that ran out)` : ""}`,
    ],
    ["SENT", `${stats.sent}${about}`],
    ["FAILED", `${stats.failed}${recently(troubles)}`],
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

function recently({ failed_recently: causes }: QueueTroubles): string {
  const total = causes.reduce((sum, { emails }) => sum + emails, 0);
  if (total === 0) return "";
  return ` (${total} in the last hour: ${causes.map(({ code, emails }) => `${code} ${emails}`).join(", ")})`;
}
