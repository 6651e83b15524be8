import type { Command } from "commander";
import { answer } from "./context.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./filter-options.ts";
import { integer } from "./option-values.ts";
import { withLedger } from "./with-ledger.ts";

interface Options extends FilterOptions {
  readonly limit: number;
  readonly json?: boolean;
}

/** Registers `posthaste list`: mails that match filters, the newest first. */
export function registerList(program: Command): void {
  addFilterOptions(program.command("list"))
    .description("Lists mails, the newest first.")
    .option("--limit <number>", "at most so many", integer(1, 10_000), 50)
    .option("--json", "print one JSON document")
    .action(async (options: Options, command: Command) => {
      const { readStandingStill } = await import("./standing-still.ts");
      const { found, standingStill } = await withLedger(command, async (ledger, schema) => {
        const found = await ledger.list(filterOf(options), options.limit + 1);
        return { found, standingStill: await readStandingStill(ledger, schema, found) };
      });
      const emails = found.slice(0, options.limit);
      const more = found.length > options.limit;
      const { emailDocument } = await import("./email-document.ts");
      const { emailTable } = await import("./email-table.ts");
      const rest = more
        ? `\nThere are more: --limit shows more than ${options.limit}, filters show fewer.`
        : "";
      const text = emails.length === 0 ? "No mail matches." : `${emailTable(emails, standingStill)}${rest}`;
      answer(options.json, { emails: emails.map((email) => emailDocument(email)), more }, text);
    });
}
