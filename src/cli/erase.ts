import { domainToASCII, domainToUnicode } from "node:url";
import type { Command } from "commander";
import type { Erased } from "../database/ledger.ts";
import { answer } from "./context.ts";
import { withLedger } from "./with-ledger.ts";

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Registers `posthaste erase`: takes a person out of everything that Posthaste keeps. Exit code 1 when something is left for another run. */
export function registerErase(program: Command): void {
  program
    .command("erase")
    .description(
      "Erases a person: the address becomes a keyed hash everywhere, and mail to that person alone loses its content.",
    )
    .argument("<address>", "the person's address; upper and lower case are the same")
    .option("--dry-run", "only count, change nothing")
    .option("--json", "print one JSON document")
    .action(async (address: string, options: Options, command: Command) => {
      const dryRun = options.dryRun ?? false;
      const erased = await withLedger(command, async (ledger) => {
        let total = NOTHING;
        for (const spelling of spellingsOf(address)) {
          let round: Erased;
          do {
            round = await ledger.erase(spelling, dryRun);
            total = added(total, round);
            // What is in flight is more of the same, and nothing to wait for.
          } while (
            round.more &&
            !dryRun &&
            round.waiting + round.cancelled + round.ended + round.archived > 0
          );
        }
        return total;
      });
      answer(options.json, { dry_run: dryRun, ...erased }, describe(erased, dryRun));
      if (!dryRun && erased.in_flight > 0) process.exitCode = 1;
    });
}

const NOTHING: Erased = {
  waiting: 0,
  cancelled: 0,
  ended: 0,
  archived: 0,
  in_flight: 0,
  files: 0,
  elsewhere: 0,
  more: false,
};

/** One address may be stored with its domain in letters or in A-labels, which SQL cannot tell to be the same. */
function spellingsOf(address: string): readonly string[] {
  const bare = /<([^<]*)>$/.exec(address.trim())?.[1] ?? address.trim();
  const [, local = "", domain = ""] = /^(.*@)([^@]*)$/s.exec(bare) ?? [];
  const others = [domainToASCII(domain), domainToUnicode(domain)].filter((each) => each !== "");
  return [
    ...new Set([bare, ...others.map((each) => local.toLowerCase() + each)].map((each) => each.toLowerCase())),
  ];
}

function added(total: Erased, round: Erased): Erased {
  const names = ["waiting", "cancelled", "ended", "archived", "files", "elsewhere"] as const;
  const sums = Object.fromEntries(names.map((name) => [name, total[name] + round[name]]));
  return { ...total, ...sums, in_flight: Math.max(total.in_flight, round.in_flight), more: round.more };
}

function describe(erased: Erased, dryRun: boolean): string {
  const counts: readonly (readonly [string, number])[] = [
    [dryRun ? "waiting mail" : "waiting mail that goes on without the person", erased.waiting],
    ["waiting mail that had nobody else, cancelled", erased.cancelled],
    ["ended mail", erased.ended],
    ["archived mail", erased.archived],
    ["other records", erased.elsewhere],
    ["files, to be deleted by the next purge, which has been asked for", erased.files],
  ];
  const lines = counts.filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`);
  if (lines.length === 0 && erased.in_flight === 0) lines.push("The address is nowhere.");
  if (erased.in_flight > 0)
    lines.push(
      `${erased.in_flight} in flight: a worker is sending at this moment. Run it again in a minute.`,
    );
  if (dryRun && erased.more) lines.push("And more.");
  return lines.join("\n");
}
