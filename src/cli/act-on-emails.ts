import type { Command } from "commander";
import type { EmailFilter, Ledger, MatchedCount } from "../database/ledger.ts";
import { PosthasteError } from "../errors.ts";
import { answer } from "./context.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./filter-options.ts";
import { integer } from "./option-values.ts";
import { oneLine } from "./printable.ts";
import { type Refusal, refusal } from "./sql-error.ts";
import { withLedger } from "./with-ledger.ts";

/** What an operator does to mails: `retry` or `cancel`. */
export interface Action {
  readonly name: string;
  readonly description: string;
  /** The only status that it applies to. */
  readonly status: string;
  /** Does it to one mail; returns its outcome in words. */
  one(ledger: Ledger, id: string): Promise<string>;
  /** Does it to those that match. */
  matching(ledger: Ledger, filter: EmailFilter, dryRun: boolean, max: number): Promise<MatchedCount[]>;
}

interface Options extends FilterOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly max: number;
  readonly json?: boolean;
}

interface Result {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly refused: readonly (Refusal & { readonly id: string })[];
  /** As many as `--max` allowed were done, so there may be more. */
  readonly more: boolean;
}

/** Registers a command that acts on mails named by id or matched by filters. */
export function registerAction(program: Command, action: Action): void {
  addFilterOptions(program.command(action.name), [action.status])
    .description(`${action.description} Give ids, or filters, or --all.`)
    .argument("[ids...]", "ids of mails")
    .option("--all", `every ${action.status} mail`)
    .option("--dry-run", "only count, change nothing")
    .option("--max <number>", "at most so many that match, the newest first", integer(1, 100_000), 1_000)
    .option("--json", "print one JSON document")
    .action(async (ids: readonly string[], options: Options, command: Command) => {
      const filter = checkChoice(action.name, ids, options);
      const result = await withLedger(command, (ledger) => {
        if (ids.length === 0) return actOnMatching(ledger, action, filter, options);
        return options.dryRun ? countIds(ledger, action, ids) : actOnIds(ledger, action, ids);
      });
      answer(options.json, { dry_run: options.dryRun ?? false, ...result }, describe(action.name, result));
      if (result.refused.length === 0) return;
      process.exitCode = 1;
      if (!options.json)
        for (const { sentence } of result.refused) console.error(`posthaste: ${oneLine(sentence)}`);
    });
}

/** A typo must not mean everything: exactly one of ids, filters and --all. */
function checkChoice(name: string, ids: readonly string[], options: Options): EmailFilter {
  const filter = filterOf(options);
  const filtered = Object.keys(filter).length > 0;
  const choices = [ids.length > 0, filtered, options.all === true].filter(Boolean).length;
  const wrong = ids.find((id) => !UUID.test(id));
  if (wrong !== undefined) {
    throw usage(`${JSON.stringify(wrong)} is not the id of a mail; for what it is about use --reference.`);
  }
  if (choices === 0) throw usage(`${name} needs ids, or filters such as --since 2h, or --all.`);
  if (choices > 1) throw usage(`${name} takes either ids, or filters, or --all: leave out the others.`);
  return filter;
}

async function actOnMatching(
  ledger: Ledger,
  action: Action,
  filter: EmailFilter,
  options: Options,
): Promise<Result> {
  const counts = await action.matching(ledger, filter, options.dryRun ?? false, options.max);
  const outcomes = Object.fromEntries(counts.map(({ outcome, emails }) => [outcome, emails]));
  return { outcomes, refused: [], more: counts.reduce((sum, { emails }) => sum + emails, 0) >= options.max };
}

async function countIds(ledger: Ledger, action: Action, ids: readonly string[]): Promise<Result> {
  const counts = await action.matching(ledger, { id: ids }, true, ids.length);
  const counted = counts.reduce((sum, { emails }) => sum + emails, 0);
  const others = new Set(ids).size - counted;
  const outcomes = Object.fromEntries(counts.map(({ outcome, emails }) => [outcome, emails]));
  return {
    outcomes: others > 0 ? { ...outcomes, [`not ${action.status}`]: others } : outcomes,
    refused: [],
    more: false,
  };
}

async function actOnIds(ledger: Ledger, action: Action, ids: readonly string[]): Promise<Result> {
  const outcomes: Record<string, number> = {};
  const refused: (Refusal & { id: string })[] = [];
  for (const id of new Set(ids)) {
    try {
      const outcome = await action.one(ledger, id);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    } catch (error) {
      const reason = refusal(error);
      if (reason === null) throw error;
      refused.push({ id, ...reason });
    }
  }
  return { outcomes, refused, more: false };
}

function describe(name: string, { outcomes, more }: Result): string {
  const counts = Object.entries(outcomes).map(([outcome, emails]) => `${emails} ${outcome}`);
  return [...counts, ...(more ? [`There may be more: run ${name} again, or raise --max.`] : [])].join("\n");
}

function usage(sentence: string): PosthasteError {
  return new PosthasteError(sentence, { exitCode: 2 });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
