import type { PgClient, PgExecutor } from "postgraphile/@dataplan/pg";
import { access, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import { cancelEmail, enqueueEmail, retryEmail } from "../database/acting.ts";
import { act } from "./act.ts";
import { visibleId } from "./email-loader.ts";
import { orRefusal } from "./refusal.ts";

/** What is done to one mail. */
export const EmailActionsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const toOne =
    (work: (client: PgClient, id: string) => Promise<void>) => (_$root: unknown, args: Arguments) =>
      act(executor, args.getRaw("id") as Step<string>, async (inTransaction, id) => {
        const { refusal } = await orRefusal(() => inTransaction((client) => work(client, id)));
        return { id, refusal };
      });
  return {
    typeDefs: gql`
      "A mail that is to be sent. The fields are those of posthaste.enqueue()."
      input EnqueueEmailInput {
        "Name of the template: the path of its file without the ending."
        template: String!
        "The To line, each user@host or Name <user@host>."
        to: [String!]!
        "The Cc line."
        cc: [String!]
        "Recipients that are in no header."
        bcc: [String!]
        "Where answers go."
        replyTo: [String!]
        "Instead of the configured sender."
        from: String
        "What fills the template: an object of at most 64 KiB."
        parameters: JSON
        "BCP 47 tag for the template."
        locale: String
        "References to files, a list of objects."
        attachments: JSON
        "Extra headers, an object."
        headers: JSON
        "A named transport instead of the default."
        transport: String
        "A smaller number runs sooner."
        priority: Int
        "One key for one business event: the same request with the same key adds nothing."
        idempotencyKey: String
        "What the mail is about."
        reference: String
        "Whose mail it is."
        owner: String
        "Not before."
        sendAt: Datetime
        "Not after."
        expiresAt: Datetime
        "Instead of the configured number."
        maxAttempts: Int
      }

      "What came of an action on one mail."
      type EmailActionPayload {
        "The mail as it is now."
        email: Email
        "Why it was not done; null when it was."
        refusal: Refusal
      }

      extend type Mutation {
        "Operators: enqueues a mail. An address that cannot be mailed makes a FAILED mail; a malformed request is refused."
        enqueueEmail(input: EnqueueEmailInput!): EmailActionPayload
        "Operators: sends a FAILED mail again, with fresh attempts, to those who do not have it yet."
        retryEmail(id: UUID!): EmailActionPayload
        "Operators: withdraws a mail that waits. What some recipients have already ends as SENT."
        cancelEmail(id: UUID!): EmailActionPayload
      }
    `,
    objects: {
      Mutation: {
        plans: {
          enqueueEmail: (_$root, args) =>
            act(executor, args.getRaw("input") as Step<EnqueueInput>, async (inTransaction, input) => {
              const given = namesOf(input);
              const { done, refusal } = await orRefusal(() =>
                inTransaction((client) => enqueueEmail(client, given)),
              );
              return { id: done, refusal };
            }),
          retryEmail: toOne(retryEmail),
          cancelEmail: toOne(cancelEmail),
        },
      },
      EmailActionPayload: {
        plans: {
          email: ($payload: Step) => visibleId(executor, access($payload, "id")),
          refusal: ($payload: Step) => access($payload, "refusal"),
        },
      },
    },
  };
}, "PosthasteEmailActionsPlugin");

type Arguments = { getRaw(name: string): Step };
type EnqueueInput = Readonly<Record<string, unknown>>;

/** The fields by the names of the SQL function's arguments; what is null has the function's default. */
function namesOf(input: EnqueueInput): Record<string, unknown> {
  const given = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [
      NAMES[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

const NAMES: Readonly<Record<string, string>> = { to: "recipients", from: "from_address" };
