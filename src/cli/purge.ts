import type { Command } from "commander";
import type { Retention } from "../database/retention.ts";
import type { Purged } from "../worker/purge.ts";
import { answer, configurationOf } from "./context.ts";
import { progressLine } from "./progress-line.ts";
import { withRetention } from "./with-ledger.ts";

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Registers `posthaste purge`: removes ended mail that has reached its age, as a worker does each night. */
export function registerPurge(program: Command): void {
  program
    .command("purge")
    .description(
      "Removes old mail now, as `retention` of the configuration says. A worker does so each night.",
    )
    .option("--dry-run", "only count, change nothing")
    .option("--json", "print one JSON document")
    .action(async (options: Options, command: Command) => {
      const { config } = await configurationOf(command, { sends: false });
      const { purge, rulesOf } = await import("../worker/purge.ts");
      const { createDeleteFile } = await import("../worker/delete-file.ts");
      await withRetention(command, async (retention) => {
        const rules = rulesOf(config.retention);
        if (options.dryRun) {
          const emails = await countAll(retention, rules);
          return answer(options.json, { dry_run: true, emails }, describeCounts(emails, "would be removed"));
        }
        const progress = await progressLine(async () => sum(await countAll(retention, rules)));
        const stop = new AbortController();
        process.once("SIGINT", () => stop.abort());
        process.once("SIGTERM", () => stop.abort());
        const purged = await purge(retention, config.retention, {
          deleteFile: createDeleteFile(config, retention),
          signal: stop.signal,
          onProgress: ({ emails }) => progress.show(sum(emails)),
        }).finally(progress.end);
        const { longest, keptFiles, ...told } = purged;
        const document = { dry_run: false, ...told, kept_files: keptFiles, longest_ms: Math.round(longest) };
        answer(options.json, document, describe(purged, config.retention.mode));
      });
    });
}

async function countAll(
  retention: Retention,
  rules: ReturnType<typeof import("../worker/purge.ts").rulesOf>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, age } of rules) counts[status] = await retention.count(status, age);
  return counts;
}

function describe({ emails, keys, files, keptFiles, complete }: Purged, mode: "delete" | "archive"): string {
  const lines = [describeCounts(emails, mode === "archive" ? "archived" : "deleted")];
  if (keys > 0) lines.push(`${keys} idempotency keys deleted`);
  if (files > 0) lines.push(`${files} files deleted`);
  if (keptFiles > 0) lines.push(`${keptFiles} files could not be deleted; the next purge tries again.`);
  if (!complete) lines.push("There is more: the next purge goes on.");
  return lines.join("\n");
}

function describeCounts(emails: Readonly<Record<string, number>>, done: string): string {
  const found = Object.entries(emails).filter(([, count]) => count > 0);
  if (found.length === 0) return "No mail is old enough.";
  return found.map(([status, count]) => `${count} ${status} ${done}`).join("\n");
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
