import type { PgExecutor } from "postgraphile/@dataplan/pg";
import { lambda, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import type { EmailRow } from "../database/rows.ts";
import { ERROR_CODES, type ErrorCode } from "../errors.ts";
import { column } from "./email-loader.ts";
import { encodeNodeId } from "./node-id.ts";
import { iso } from "./time.ts";

/** The type Email. A step of this type is the step of the mail's id. */
export const EmailPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const read = (name: keyof EmailRow) => ($id: Step) => column(executor, $id, name);
  const time = (name: keyof EmailRow) => ($id: Step) => lambda(column(executor, $id, name), iso, true);
  return {
    typeDefs: gql`${typeDefinitions(hasNodeId(build))}`,
    objects: {
      Email: {
        plans: {
          // Where Email is a Node, PostGraphile adds it.
          ...(!hasNodeId(build) && { nodeId: ($id: Step<string>) => lambda($id, encodeNodeId, true) }),
          id: ($id: Step) => $id,
          status: read("status"),
          template: read("template"),
          owner: read("owner"),
          reference: read("reference"),
          createdAt: time("created_at"),
          sentAt: time("sent_at"),
          errorCode: read("error_code"),
          errorSentence: ($id: Step) => lambda(column(executor, $id, "error_code"), sentenceOf, true),
          errorHint: ($id: Step) => lambda(column(executor, $id, "error_code"), hintOf, true),
          errorMessage: read("error_message"),
          to: read("recipients"),
          cc: read("cc"),
          bcc: read("bcc"),
          replyTo: read("reply_to"),
          from: read("from_address"),
          subject: read("subject"),
          locale: read("locale"),
          idempotencyKey: read("idempotency_key"),
          transport: read("transport"),
          transportUsed: read("transport_used"),
          priority: read("priority"),
          sendAt: time("send_at"),
          expiresAt: time("expires_at"),
          nextAttemptAt: time("next_attempt_at"),
          finishedAt: time("finished_at"),
          handedOverAt: time("handed_over_at"),
          maxAttempts: read("max_attempts"),
          attemptCount: read("attempt_count"),
          deferralCount: read("deferral_count"),
          worker: read("locked_by"),
          possibleDuplicate: read("possible_duplicate"),
          messageId: read("message_id"),
          providerResponse: read("provider_response"),
          templateVersion: read("template_version"),
        },
      },
    },
  };
}, "PosthasteEmailPlugin");

/** Whether the schema's Relay id is called nodeId: in a host where it is `id`, our `id` is the UUID all the same, so Email is no Node there. */
export function hasNodeId(build: GraphileBuild.Build): boolean {
  return build.inflection.nodeIdFieldName?.() === "nodeId";
}

function sentenceOf(code: string | null): string | null {
  return ERROR_CODES[code as ErrorCode]?.sentence ?? null;
}

function hintOf(code: string | null): string | null {
  return ERROR_CODES[code as ErrorCode]?.hint ?? null;
}

const NODE_ID = `
  "A globally unique id, for clients that keep what they have read."
  nodeId: ID!`;

function typeDefinitions(isNode: boolean): string {
  return `
"""Where a mail stands."""
enum EmailStatus {
  "It waits: for its time, for a worker, or for the next attempt."
  PENDING
  "A worker holds it and is sending it."
  SENDING
  "The mail server has accepted it."
  SENT
  "It was given up; errorCode says why, and an operator can retry it."
  FAILED
  "It was withdrawn before it was sent."
  CANCELLED
}

"""An email: what was asked for, and what became of it. Viewers see the first fields of those that are theirs; the others are for operators."""
type Email {${isNode ? "" : NODE_ID}
  "The mail's own id, a UUID of version 7; also what posthaste.enqueue() returned."
  id: UUID!
  "Where it stands."
  status: EmailStatus!
  "Name of its template, e.g. order-confirmed."
  template: String!
  "Whose mail it is."
  owner: String
  "What it is about, e.g. order:42."
  reference: String
  "When it was enqueued."
  createdAt: Datetime!
  "When its acceptance by the mail server was recorded."
  sentAt: Datetime
  "The last cause, a word from the table of error codes."
  errorCode: String
  "What errorCode means, in a sentence that is safe to show to anyone."
  errorSentence: String
  "What an operator does about it."
  errorHint: String
  "Operators: the last cause in full. It may quote addresses and the mail server's words: show it as plain text."
  errorMessage: String
  "Operators: the To line."
  to: [String!]
  "Operators: the Cc line."
  cc: [String!]
  "Operators: recipients that are in no header."
  bcc: [String!]
  "Operators: where answers go."
  replyTo: [String!]
  "Operators: the sender, where it is not the configured one."
  from: String
  "Operators: the subject as it was sent; before that, see renderedEmail."
  subject: String
  "Operators: the language that the template is given."
  locale: String
  "Operators: the key of the business event."
  idempotencyKey: String
  "Operators: the transport that it names; null means the default one."
  transport: String
  "Operators: the transport that sent it."
  transportUsed: String
  "Operators: a smaller number runs sooner."
  priority: Int
  "Operators: not before."
  sendAt: Datetime
  "Operators: not after."
  expiresAt: Datetime
  "Operators: when it is due, while it is PENDING."
  nextAttemptAt: Datetime
  "Operators: when it came to SENT, FAILED or CANCELLED."
  finishedAt: Datetime
  "Operators: when the present or last attempt handed it over; from then on a copy may have gone out."
  handedOverAt: Datetime
  "Operators: attempts that may be spent."
  maxAttempts: Int
  "Operators: attempts spent."
  attemptCount: Int
  "Operators: attempts given back, because the fault was not this mail's."
  deferralCount: Int
  "Operators: the worker that holds it or held it last."
  worker: String
  "Operators: an earlier attempt may already have arrived."
  possibleDuplicate: Boolean
  "Operators: its Message-ID, the same for every attempt."
  messageId: String
  "Operators: the mail server's reply to the message."
  providerResponse: String
  "Operators: the version of the template that was sent."
  templateVersion: String
}
`;
}
