import { loadOneWithPgClient, type PgClient, type PgExecutor } from "postgraphile/@dataplan/pg";
import { access, constant, lambda, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import type { QueueStats, TransportStatus } from "../database/ledger.ts";
import { type PublishedTemplate, queueStats, templates, transports } from "../database/pages.ts";
import { safely } from "./safe-errors.ts";
import { iso } from "./time.ts";

/** How the queue, the transports and the templates are. */
export const QueuePlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const one = <T>(name: string, read: (client: PgClient) => Promise<T>) => {
    const loader = {
      name,
      load: (client: PgClient, asked: readonly true[]) =>
        safely(async () => {
          const answer = await read(client);
          return asked.map(() => answer);
        }),
    };
    return () => loadOneWithPgClient(executor, constant(true as const), loader);
  };
  const stat = (name: keyof QueueStats) => ($stats: Step) => access($stats, name);
  const of = (name: keyof TransportStatus) => ($transport: Step) => access($transport, name);
  const known = (name: keyof PublishedTemplate) => ($template: Step) => access($template, name);
  return {
    typeDefs: gql`
      "How the queue is."
      type QueueStats {
        "Mails that wait."
        pending: Float!
        "Mails that are being sent."
        sending: Float!
        "Mails that were sent and are still kept."
        sent: Float!
        "Mails that were given up."
        failed: Float!
        "Mails that were withdrawn."
        cancelled: Float!
        "From 200,000 mails on, sent and cancelled are estimates."
        endedAreEstimates: Boolean!
        "Mails whose time has come."
        due: Float!
        "Since when the oldest of them has been due."
        oldestDueAt: Datetime
        "Mails whose worker was not heard of in time; maintenance takes them up."
        expiredLeases: Float!
        "Worker processes that are alive."
        liveWorkers: Float!
        "Those of them that notifications reach."
        listeningWorkers: Float!
        "The environment that this database says it is."
        environment: String
      }

      "Whether a transport sends."
      enum TransportState {
        "It sends."
        CLOSED
        "The mail server does not serve; it is tried again from time to time."
        OPEN
        "An operator has stopped it."
        PAUSED
      }

      "A mail server that mail goes to."
      type Transport {
        "Its name in the configuration."
        name: String!
        "Whether it is for mail that names none."
        isDefault: Boolean!
        "Whether it sends."
        state: TransportState!
        "Since when it has been in this state."
        since: Datetime
        "Failures of the server in a row."
        failures: Int!
        "Why it is OPEN, a word from the table of error codes."
        errorCode: String
        "The server's words, or the operator's. Show them as plain text."
        reason: String
        "Who paused it."
        pausedBy: String
        "When it is tried again."
        nextProbeAt: Datetime
      }

      "A template that live workers know."
      type Template {
        "Its name."
        name: String!
        "Its versions; more than one while a deploy is rolling."
        versions: [String!]!
        "Parameters that must be there."
        required: [String!]!
        "Parameters that are erased once the mail is sent."
        secrets: [String!]!
        "How many live workers know it."
        workers: Int!
      }

      extend type Query {
        "Operators: how the queue is."
        queueStats: QueueStats
        "Operators: the transports, and why one is stopped."
        transports: [Transport!]
        "Operators: the templates that live workers know."
        templates: [Template!]
      }
    `,
    objects: {
      Query: {
        plans: {
          queueStats: one("queueStats", queueStats),
          transports: one("transports", transports),
          templates: one("templates", templates),
        },
      },
      QueueStats: {
        plans: {
          pending: stat("pending"),
          sending: stat("sending"),
          sent: stat("sent"),
          failed: stat("failed"),
          cancelled: stat("cancelled"),
          endedAreEstimates: stat("ended_are_estimates"),
          due: stat("due"),
          oldestDueAt: ($stats: Step) => lambda(access<Date>($stats, "oldest_due_at"), iso, true),
          expiredLeases: stat("expired_leases"),
          liveWorkers: stat("live_workers"),
          listeningWorkers: stat("listening_workers"),
          environment: stat("environment"),
        },
      },
      Transport: {
        plans: {
          name: of("name"),
          isDefault: of("default"),
          state: ($transport: Step) =>
            lambda(access<string>($transport, "state"), (word) => word.toUpperCase(), true),
          since: ($transport: Step) => lambda(access<Date>($transport, "since"), iso, true),
          failures: of("failures"),
          errorCode: of("error_code"),
          reason: of("reason"),
          pausedBy: of("paused_by"),
          nextProbeAt: ($transport: Step) => lambda(access<Date>($transport, "next_probe_at"), iso, true),
        },
      },
      Template: {
        plans: {
          name: known("name"),
          versions: known("versions"),
          required: known("required"),
          secrets: known("secrets"),
          workers: known("workers"),
        },
      },
    },
  };
}, "PosthasteQueuePlugin");
