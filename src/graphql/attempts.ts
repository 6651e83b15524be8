import { loadOneWithPgClient, type PgClient, type PgExecutor } from "postgraphile/@dataplan/pg";
import { access, lambda, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import type { AttemptRow } from "../database/ledger.ts";
import { attemptsOf } from "../database/pages.ts";
import { safely } from "./safe-errors.ts";
import { iso } from "./time.ts";

/** The attempts of a mail. */
export const AttemptsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const read = (name: keyof AttemptRow) => ($attempt: Step) => access($attempt, name);
  const time = (name: keyof AttemptRow) => ($attempt: Step) => lambda(access($attempt, name), iso, true);
  return {
    typeDefs: gql`
      "How an attempt ended."
      enum EmailAttemptOutcome {
        "The mail server accepted it."
        SENT
        "It is tried again later."
        DEFERRED
        "The mail server refused it for good."
        REFUSED
        "We could not send it, for good."
        FAILED
        "It was handed over, and no reply came."
        UNKNOWN
        "The worker died before the hand-over."
        CRASHED
        "It was given back when the worker stopped."
        RELEASED
      }

      "One attempt to send a mail, written when it ended."
      type EmailAttempt {
        "Counts up for each mail, and is never used again."
        number: Int!
        "The worker that made it."
        worker: String!
        "The transport; null when it was not reached."
        transport: String
        "When it was claimed."
        startedAt: Datetime!
        "When its end was recorded."
        finishedAt: Datetime!
        "How it ended."
        outcome: EmailAttemptOutcome!
        "How far it got: render, connect, tls, auth, mail, rcpt, data or final_dot."
        phase: String
        "The mail server's reply code."
        smtpCode: Int
        "Its enhanced status code, as in RFC 3463."
        enhancedCode: String
        "The cause, a word from the table of error codes."
        errorCode: String
        "The cause in full. It may quote addresses and the mail server's words: show it as plain text."
        errorMessage: String
      }

      extend type Email {
        "Operators: the attempts that have ended, in their order."
        attempts: [EmailAttempt!]
      }
    `,
    objects: {
      Email: {
        plans: { attempts: ($id: Step) => loadOneWithPgClient(executor, $id as Step<string>, attempts) },
      },
      EmailAttempt: {
        plans: {
          number: read("number"),
          worker: read("worker"),
          transport: read("transport"),
          startedAt: time("started_at"),
          finishedAt: time("finished_at"),
          outcome: ($attempt: Step) =>
            lambda(access<string>($attempt, "outcome"), (word) => word.toUpperCase(), true),
          phase: read("phase"),
          smtpCode: read("smtp_code"),
          enhancedCode: read("enhanced_code"),
          errorCode: read("error_code"),
          errorMessage: read("error_message"),
        },
      },
    },
  };
}, "PosthasteAttemptsPlugin");

const attempts = {
  name: "attemptsOfEmails",
  load: (client: PgClient, ids: readonly string[]) => safely(() => attemptsOf(client, ids)),
};
