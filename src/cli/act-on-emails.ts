import type { Command } from "commander";
import type { EmailFilter, Ledger, MatchedCount } from "../database/ledger.ts";
import { PosthasteError } from "../errors.ts";
import { answer } from "./context.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./filter-options.ts";
import { noSuchMail } from "./no-such-mail.ts";
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

/** Registers a command that acts on mails that are named or matched by filters. */
export function registerAction(program: Command, action: Action): void {
  addFilterOptions(program.command(action.name), [action.status])
    .description(`${action.description} Name mails, or give filters, or --all.`)
    .argument("[mails...]", "ids, idempotency keys, or references of one mail each")
    .option("--all", `every ${action.status} mail`)
    .option("--dry-run", "only count, change nothing")
    .option("--max <number>", "at most so many that match, the newest first", integer(1, 100_000), 1_000)
    .option("--json", "print one JSON document")
    .action(async (words: readonly string[], options: Options, command: Command) => {
      const filter = checkChoice(action.name, words, options);
      const result = await withLedger(command, (ledger) =>
        words.length === 0
          ? actOnMatching(ledger, action, filter, options)
          : actOnNamed(ledger, action, words, options.dryRun ?? false),
      );
      answer(options.json, { dry_run: options.dryRun ?? false, ...result }, describe(action, result));
      if (result.refused.length === 0) return;
      process.exitCode = 1;
      if (!options.json)
        for (const { sentence } of result.refused) console.error(`posthaste: ${oneLine(sentence)}`);
    });
}

/** A typo must not mean everything: exactly one of names, filters and --all. */
function checkChoice(name: string, words: readonly string[], options: Options): EmailFilter {
  const filter = filterOf(options);
  const filtered = Object.keys(filter).length > 0;
  const choices = [words.length > 0, filtered, options.all === true].filter(Boolean).length;
  if (choices === 0) throw usage(`${name} needs mails, or filters such as --since 2h, or --all.`);
  if (choices > 1) throw usage(`${name} takes either mails, or filters, or --all: leave out the others.`);
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

/** Finds what every word means before anything is done. */
async function actOnNamed(
  ledger: Ledger,
  action: Action,
  words: readonly string[],
  dryRun: boolean,
): Promise<Result> {
  const found: string[] = [];
  const refused: Result["refused"][number][] = [];
  for (const word of new Set(words)) {
    const id = UUID.test(word) ? word.toLowerCase() : await idOf(ledger, action, word);
    if (id === null) refused.push({ id: word, code: "PH020", sentence: noSuchMail(word) });
    else found.push(id);
  }
  const result = dryRun
    ? await countIds(ledger, action, found)
    : await actOnIds(ledger, action, [...new Set(found)]);
  return { ...result, refused: [...refused, ...result.refused] };
}

/** The mail of a key or a reference: the only one, or the only one with which that can be done. */
async function idOf(ledger: Ledger, { name, status }: Action, word: string): Promise<string | null> {
  const emails = await ledger.find(word, MOST);
  const fitting = emails.filter((email) => email.status === status);
  const [email] = fitting.length > 0 ? fitting : emails;
  if (fitting.length > 1 || (fitting.length === 0 && emails.length > 1)) {
    const count = emails.length === MOST ? `${MOST} mails or more` : `${emails.length} mails`;
    throw usage(
      `${JSON.stringify(word)} is a reference of ${count}, ${fitting.length} of them ${status}, and nothing is done: ` +
        `for all that are ${status} use ${name} --reference, or give ids (\`posthaste show\` lists them).`,
    );
  }
  return email?.id ?? null;
}

async function countIds(ledger: Ledger, action: Action, ids: readonly string[]): Promise<Result> {
  if (ids.length === 0) return { outcomes: {}, refused: [], more: false };
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
  for (const id of ids) {
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

function describe({ name, status }: Action, { outcomes, refused, more }: Result): string {
  const told = Object.entries(outcomes);
  if (refused.length === 0 && told.every(([, emails]) => emails === 0))
    return `Nothing matched: no ${status} mail is like that.`;
  const counts = told.map(([outcome, emails]) => `${emails} ${outcome}`);
  return [...counts, ...(more ? [`There may be more: run ${name} again, or raise --max.`] : [])].join("\n");
}

function usage(sentence: string): PosthasteError {
  return new PosthasteError(sentence, { exitCode: 2 });
}

/** Mails of one reference that are looked at. */
const MOST = 100;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
