import type { EmailRow } from "../database/store.ts";
import { oneLine } from "./printable.ts";
import type { StandingStill } from "./standing-still.ts";
import { table } from "./table.ts";
import { when } from "./when.ts";

/** Mails as a table, each with its reason on a line of its own where there is one. */
export function emailTable(emails: readonly EmailRow[], standingStill: StandingStill): string {
  const [head = "", ...lines] = table([
    ["ID", "STATUS", "ENQUEUED", "ATTEMPTS", "TEMPLATE", "TO"],
    ...emails.map((email) => [
      email.id,
      email.status,
      when(email.created_at),
      `${email.attempt_count}/${email.max_attempts}`,
      email.template,
      recipientsOf(email),
    ]),
  ]).split("\n");
  const reasons = emails
    .map((email) => reasonOf(email, standingStill(email)))
    .map((reason) => (reason === "" ? [] : [`  ${oneLine(reason)}`]));
  return [head, ...lines.flatMap((line, index) => [line, ...(reasons[index] ?? [])])].join("\n");
}

function recipientsOf({ recipients, cc, bcc }: EmailRow): string {
  const [first = "", ...others] = [...recipients, ...cc, ...bcc];
  return others.length === 0 ? first : `${first} +${others.length}`;
}

function reasonOf(email: EmailRow, standing: string | null): string {
  const due = email.status === "PENDING" ? `due ${when(email.next_attempt_at)}` : "";
  const cause = [email.error_code, email.error_message?.slice(0, 300)].filter(Boolean).join(": ");
  return [due, standing, email.possible_duplicate ? "possible duplicate" : "", cause]
    .filter(Boolean)
    .join("; ");
}
