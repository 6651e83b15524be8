import type { Command } from "commander";
import { PosthasteError } from "../errors.ts";
import { answer } from "./context.ts";
import { noSuchMail } from "./no-such-mail.ts";
import { withLedger } from "./with-ledger.ts";

/** Mails of one reference that are shown at most. */
const MOST = 100;

/** Registers `posthaste show`: everything about one mail, or the list of a reference's mails. */
export function registerShow(program: Command): void {
  program
    .command("show")
    .description(
      "Shows a mail with its recipients and attempts; of a reference with several mails, their list.",
    )
    .argument("<mail>", "its id, its idempotency key, or a reference")
    .option("--json", "print one JSON document")
    .action(async (word: string, { json }: { json?: boolean }, command: Command) => {
      const { emailDocument } = await import("./email-document.ts");
      const { emailTable } = await import("./email-table.ts");
      const { emailDetails } = await import("./email-details.ts");
      const { readStandingStill } = await import("./standing-still.ts");
      await withLedger(command, async (ledger, schema) => {
        const emails = await ledger.find(word, MOST);
        const [email] = emails;
        if (email === undefined) throw new PosthasteError(noSuchMail(word));
        // Several mails are told in short on a screen; a script gets the whole of each.
        const told = emails.length === 1 || json ? emails : [];
        const documents = [];
        for (const one of told) documents.push(emailDocument(one, await ledger.attempts(one.id)));
        const standingStill = await readStandingStill(ledger, schema, emails);
        const text =
          emails.length === 1
            ? emailDetails(email, documents[0]?.attempts ?? [], standingStill(email))
            : `${emailTable(emails, standingStill)}\n\`posthaste show <id>\` shows one of them.`;
        answer(json, { emails: documents }, text);
      });
    });
}
