import { loadOneWithPgClient, type PgClient, type PgExecutor } from "postgraphile/@dataplan/pg";
import { access, lambda, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import type { EmailFilter } from "../database/ledger.ts";
import { countEmails, pageOfEmails, type StatusCount } from "../database/pages.ts";
import { apart } from "./apart.ts";
import { type Page, pageOf, readPaging } from "./cursor.ts";
import { type EmailFilterInput, readFilter } from "./filter.ts";

/** Lists of mails, page by page, and how many there are. */
export const EmailsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  return {
    typeDefs: gql`
      "Order of a list of mails."
      enum EmailOrder {
        "Enqueued last comes first."
        NEWEST
        "Operators: only what waits, and what is due first comes first."
        NEXT_DUE
      }

      "A list of mails, one page of it."
      type EmailConnection {
        "The mails of this page."
        nodes: [Email!]!
        "The same with their cursors."
        edges: [EmailEdge!]!
        "Whether there are more, and from where."
        pageInfo: PageInfo!
        "How many mails of each status the filter matches. Counted to 10,000 and no further, so that it stays fast."
        counts: EmailCounts!
      }

      "A mail in a list."
      type EmailEdge {
        "Where it stands in the list, for after."
        cursor: Cursor!
        "The mail."
        node: Email!
      }

      "A number that was counted to a limit."
      type CappedCount {
        "The number, or the limit."
        count: Int!
        "There are more than that."
        capped: Boolean!
        "For people: 17, or 10,000+."
        text: String!
      }

      "How many mails of each status."
      type EmailCounts {
        "Those that wait."
        pending: CappedCount!
        "Those that are being sent."
        sending: CappedCount!
        "Those that were accepted."
        sent: CappedCount!
        "Those that were given up."
        failed: CappedCount!
        "Those that were withdrawn."
        cancelled: CappedCount!
        "All of them."
        total: CappedCount!
      }

      extend type Query {
        "The mails that a filter matches and that you may see. At most 100 a page; the next one begins after the endCursor."
        emails(filter: EmailFilter, orderBy: EmailOrder = NEWEST, first: Int = 25, after: Cursor): EmailConnection!
      }
    `,
    objects: {
      Query: {
        plans: {
          emails: (_$root, args) =>
            loadOneWithPgClient(
              executor,
              [args.getRaw("filter"), args.getRaw("orderBy"), args.getRaw("first"), args.getRaw("after")],
              pages,
            ),
        },
      },
      EmailConnection: {
        plans: {
          nodes: ($page) => ($page as PageStep).get("nodes"),
          edges: ($page) => ($page as PageStep).get("edges"),
          pageInfo: ($page) => ($page as PageStep).get("pageInfo"),
          counts: ($page) => loadOneWithPgClient(executor, ($page as PageStep).get("filter"), counts),
        },
      },
      EmailEdge: {
        plans: {
          cursor: ($edge: Step) => access($edge, "cursor"),
          node: ($edge: Step) => access($edge, "node"),
        },
      },
      EmailCounts: {
        plans: Object.fromEntries(
          [...STATUSES, "total"].map((name) => [
            name,
            ($counts: Step) => lambda($counts as Step<readonly StatusCount[]>, countOf(name), true),
          ]),
        ),
      },
      CappedCount: {
        plans: {
          count: ($count: Step) => access($count, "count"),
          capped: ($count: Step) => access($count, "capped"),
          text: ($count: Step) => access($count, "text"),
        },
      },
    },
  };
}, "PosthasteEmailsPlugin");

const STATUSES = ["pending", "sending", "sent", "failed", "cancelled"];

interface ListedPage extends Page<string> {
  /** For the counts. */
  readonly filter: EmailFilter;
}

interface PageStep extends Step<ListedPage> {
  get(name: keyof ListedPage): Step;
}

type Lookup = readonly [
  filter: EmailFilterInput | null | undefined,
  order: "NEWEST" | "NEXT_DUE" | null | undefined,
  first: number | null | undefined,
  after: string | null | undefined,
];

const pages = {
  name: "pageOfEmails",
  load: (
    client: PgClient,
    lookups: readonly Lookup[],
    { attributes }: { readonly attributes: readonly (keyof ListedPage)[] },
  ): Promise<readonly ListedPage[]> =>
    apart(client, lookups, async (inside, [given, order, count, cursor]) => {
      const filter = readFilter(given);
      const { first, after } = readPaging(count, cursor);
      const sort = order === "NEXT_DUE" ? "next_due" : "newest";
      const wanted = attributes.some((name) => name !== "filter");
      const rows = wanted ? await pageOfEmails(inside, { filter, sort, max: first + 1, after }) : [];
      const page = pageOf(
        rows,
        first,
        after === null,
        (row) => row,
        ({ id }) => id,
      );
      return { ...page, filter };
    }),
};

const counts = {
  name: "countsOfEmails",
  load: (client: PgClient, filters: readonly EmailFilter[]): Promise<readonly (readonly StatusCount[])[]> =>
    apart(client, filters, countEmails),
};

function countOf(name: string) {
  return (found: readonly StatusCount[]) => {
    const counted = found.filter(({ status }) => name === "total" || status === name.toUpperCase());
    const count = counted.reduce((sum, { emails }) => sum + emails, 0);
    const capped = counted.some((one) => one.capped);
    return { count, capped, text: `${count.toLocaleString("en")}${capped ? "+" : ""}` };
  };
}
