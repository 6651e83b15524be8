import type { PgExecutor } from "postgraphile/@dataplan/pg";
import { access, lambda, object, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import type { EmailRow } from "../database/rows.ts";
import { column } from "./email-loader.ts";

/** What became of each recipient of a mail. */
export const RecipientsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const read = (name: string) => ($recipient: Step) => access($recipient, name);
  return {
    typeDefs: gql`
      "The line in which a recipient stands."
      enum EmailLine {
        TO
        CC
        BCC
      }

      "What became of a recipient."
      enum EmailRecipientOutcome {
        "The mail server has accepted the mail for this address; it is never mailed again."
        ACCEPTED
        "The address was refused for good."
        REFUSED
        "Neither yet."
        OPEN
      }

      "A recipient, and what became of it."
      type EmailRecipient {
        "As it was enqueued: user@host or Name <user@host>."
        mailbox: String!
        "The line in which it stands."
        line: EmailLine!
        "What became of it."
        outcome: EmailRecipientOutcome!
        "The reply code with which it was refused."
        smtpCode: Int
        "The enhanced status code with which it was refused."
        enhancedCode: String
        "The words with which it was refused. The mail server wrote them: show them as plain text."
        text: String
      }

      extend type Email {
        "Operators: what became of each recipient."
        recipients: [EmailRecipient!]
      }
    `,
    objects: {
      Email: {
        plans: {
          recipients: ($id: Step) => {
            const columns = object({
              recipients: column(executor, $id, "recipients"),
              cc: column(executor, $id, "cc"),
              bcc: column(executor, $id, "bcc"),
              delivered_to: column(executor, $id, "delivered_to"),
              refused: column(executor, $id, "refused"),
            });
            return lambda(columns as Step<Lines>, recipientsOf, true);
          },
        },
      },
      EmailRecipient: {
        plans: {
          mailbox: read("mailbox"),
          line: read("line"),
          outcome: read("outcome"),
          smtpCode: read("smtpCode"),
          enhancedCode: read("enhancedCode"),
          text: read("text"),
        },
      },
    },
  };
}, "PosthasteRecipientsPlugin");

type Lines = Pick<EmailRow, "recipients" | "cc" | "bcc" | "delivered_to" | "refused">;

function recipientsOf({ recipients, cc, bcc, delivered_to, refused }: Lines) {
  const all = [
    ...recipients.map((mailbox) => ({ mailbox, line: "TO" })),
    ...cc.map((mailbox) => ({ mailbox, line: "CC" })),
    ...bcc.map((mailbox) => ({ mailbox, line: "BCC" })),
  ];
  return all.map(({ mailbox, line }) => {
    // As posthaste_private.bare_address() takes it.
    const address = /<([^<]*)>$/.exec(mailbox)?.[1]?.trimEnd() ?? mailbox;
    const reply = Object.hasOwn(refused, address) ? refused[address] : undefined;
    const outcome = delivered_to.includes(address) ? "ACCEPTED" : reply ? "REFUSED" : "OPEN";
    return {
      mailbox,
      line,
      outcome,
      smtpCode: reply?.code ?? null,
      enhancedCode: reply?.enhanced ?? null,
      text: reply?.text ?? null,
    };
  });
}
