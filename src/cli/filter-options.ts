import { type Command, Option } from "commander";
import type { EmailFilter } from "../database/ledger.ts";
import { ERROR_CODES } from "../errors.ts";
import { gatherOneOf, past } from "./option-values.ts";

/** Every value of `email_messages.status`. */
export const STATUSES = ["PENDING", "SENDING", "SENT", "FAILED", "CANCELLED"] as const;

/** What the filter options of a command were given. */
export interface FilterOptions {
  readonly status: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly template?: string;
  readonly errorCode: readonly string[];
  readonly reference?: string;
  readonly owner?: string;
  readonly recipient?: string;
  readonly transport?: string;
  readonly possibleDuplicate?: boolean;
}

/** Adds the filters that `list`, `retry` and `cancel` share; the words are those of the SQL functions. */
export function addFilterOptions(command: Command, statuses: readonly string[] = STATUSES): Command {
  return command
    .addOption(listOption("--status <status>", statusesIn(statuses), statuses))
    .option("--since <time>", "enqueued at or after: 2h (ago), 2026-01-31, 2026-01-31T18:00", past)
    .option("--until <time>", "enqueued before", past)
    .option("--template <name>", "of this template")
    .addOption(listOption("--error-code <code>", "with this cause; repeatable", Object.keys(ERROR_CODES)))
    .option("--reference <reference>", "about this, e.g. order:42")
    .option("--owner <owner>", "of this user or tenant")
    .option("--recipient <address>", "to this address, in To, Cc or Bcc")
    .option("--transport <name>", "by this transport")
    .option("--possible-duplicate", "that may have arrived twice");
}

/** The filter that the options ask for; an empty one matches everything. */
export function filterOf(options: FilterOptions): EmailFilter {
  const { status, since, until, template, errorCode, reference, owner, recipient, transport } = options;
  return {
    ...(status.length > 0 && { status }),
    ...(errorCode.length > 0 && { error_code: errorCode }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(template !== undefined && { template }),
    ...(reference !== undefined && { reference }),
    ...(owner !== undefined && { owner }),
    // `Ada <ada@shop.example>`, as copied from `show`.
    ...(recipient !== undefined && { recipient: /<([^<>]*)>\s*$/.exec(recipient)?.[1] ?? recipient }),
    ...(transport !== undefined && { transport }),
    ...(options.possibleDuplicate && { possible_duplicate: true }),
  };
}

function statusesIn(statuses: readonly string[]): string {
  return statuses.length === 1 ? `only ${statuses[0]} mail can match` : `${statuses.join(", ")}; repeatable`;
}

function listOption(flags: string, description: string, words: readonly string[]): Option {
  return new Option(flags, description).default([], "all").argParser(gatherOneOf(words));
}
