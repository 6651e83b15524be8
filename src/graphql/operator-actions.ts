import { loadOneWithPgClient, type PgClient, type PgExecutor } from "postgraphile/@dataplan/pg";
import { access, lambda, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import { type OperatorActionRow, pageOfActions } from "../database/pages.ts";
import { apart } from "./apart.ts";
import { pageOf, readPaging } from "./cursor.ts";
import { iso } from "./time.ts";

/** What operators did. */
export const OperatorActionsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const read = (name: keyof OperatorActionRow) => ($action: Step) => access($action, name);
  return {
    typeDefs: gql`
      "Something that an operator did, over GraphQL, by the command line or in psql."
      type OperatorAction {
        "Its id."
        id: UUID!
        "When it began."
        at: Datetime!
        "Who did it: the subject of the token, or the login."
        actor: String!
        "The database login."
        login: String!
        "retry, cancel, retry_matching, cancel_matching, pause or resume."
        action: String!
        "The one mail that it was about, as long as it is kept."
        emailId: UUID
        "The transport that it was about."
        transport: String
        "Which mails it was about; without the address of a recipient."
        filter: JSON
        "Why, in the operator's words."
        reason: String
        "How many mails it changed."
        emails: Int!
        "How many mails came to which outcome."
        outcomes: [ActionOutcome!]!
      }

      "How many mails came to an outcome."
      type ActionOutcome {
        "In words, e.g. retried, expired, cancelled, would be retried."
        outcome: String!
        "How many."
        emails: Int!
      }

      "What operators did, one page of it."
      type OperatorActionConnection {
        "The actions of this page."
        nodes: [OperatorAction!]!
        "The same with their cursors."
        edges: [OperatorActionEdge!]!
        "Whether there are more, and from where."
        pageInfo: PageInfo!
      }

      "An action in a list."
      type OperatorActionEdge {
        "Where it stands in the list, for after."
        cursor: Cursor!
        "The action."
        node: OperatorAction!
      }

      extend type Query {
        "Operators: what operators did, newest first. At most 100 a page."
        operatorActions(first: Int = 25, after: Cursor): OperatorActionConnection
      }
    `,
    objects: {
      Query: {
        plans: {
          operatorActions: (_$root, args) =>
            loadOneWithPgClient(executor, [args.getRaw("first"), args.getRaw("after")], pages),
        },
      },
      OperatorActionConnection: {
        plans: {
          nodes: ($page: Step) => access($page, "nodes"),
          edges: ($page: Step) => access($page, "edges"),
          pageInfo: ($page: Step) => access($page, "pageInfo"),
        },
      },
      OperatorActionEdge: {
        plans: {
          cursor: ($edge: Step) => access($edge, "cursor"),
          node: ($edge: Step) => access($edge, "node"),
        },
      },
      OperatorAction: {
        plans: {
          id: read("id"),
          at: ($action: Step) => lambda(access<Date>($action, "at"), iso, true),
          actor: read("actor"),
          login: read("login"),
          action: read("action"),
          emailId: read("email_id"),
          transport: read("transport"),
          filter: read("filter"),
          reason: read("reason"),
          emails: read("emails"),
          outcomes: ($action: Step) =>
            lambda(access<Record<string, number>>($action, "outcomes"), outcomesOf, true),
        },
      },
      ActionOutcome: {
        plans: {
          outcome: ($outcome: Step) => access($outcome, "outcome"),
          emails: ($outcome: Step) => access($outcome, "emails"),
        },
      },
    },
  };
}, "PosthasteOperatorActionsPlugin");

/** Counts by outcome as a list. */
function outcomesOf(outcomes: Readonly<Record<string, number>>) {
  return Object.entries(outcomes).map(([outcome, emails]) => ({ outcome, emails }));
}

type Lookup = readonly [first: number | null | undefined, after: string | null | undefined];

const pages = {
  name: "pageOfActions",
  load: (client: PgClient, lookups: readonly Lookup[]) =>
    apart(client, lookups, async (inside, [count, cursor]) => {
      const { first, after } = readPaging(count, cursor);
      const rows = await pageOfActions(inside, { max: first + 1, after });
      return pageOf(
        rows,
        first,
        after === null,
        ({ id, position }) => ({ id, at: position }),
        (row) => row,
      );
    }),
};
