import type { PgExecutor } from "postgraphile/@dataplan/pg";
import { access, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import { actOnMatching, beginAction, type MatchingAction } from "../database/acting.ts";
import type { EmailFilter } from "../database/ledger.ts";
import { type PageEntry, type PageRequest, pageOfEmails } from "../database/pages.ts";
import { act, type InTransaction } from "./act.ts";
import { type EmailFilterInput, readFilter } from "./filter.ts";
import { safeError, safely } from "./safe-errors.ts";

/** What is done to all mails that a filter matches. */
export const MatchingActionsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const plan = (action: MatchingAction, status: string) => (_$root: unknown, args: Arguments) =>
    act(executor, args.getRaw() as Step<Given>, (inTransaction, { filter, dryRun, max }) =>
      safely(() => actOnAll(inTransaction, action, status, readRequest(filter, dryRun, max))),
    );
  return {
    typeDefs: gql`
      "What came of an action on many mails."
      type EmailsActionPayload {
        "Nothing was changed: this is what would have been done."
        dryRun: Boolean!
        "How many mails came to which outcome."
        outcomes: [ActionOutcome!]!
        "Mails that the filter matches beyond max; call again for them."
        more: Boolean!
        "The id of the action in operatorActions; null for a dry run."
        actionId: UUID
      }

      extend type Mutation {
        "Operators: sends all FAILED mails that a filter matches again, newest first, at most max (10,000). In steps of 500, each of which stays done."
        retryEmails(filter: EmailFilter!, dryRun: Boolean = false, max: Int = 1000): EmailsActionPayload
        "Operators: withdraws all waiting mails that a filter matches, newest first, at most max (10,000). In steps of 500, each of which stays done."
        cancelEmails(filter: EmailFilter!, dryRun: Boolean = false, max: Int = 1000): EmailsActionPayload
      }
    `,
    objects: {
      Mutation: {
        plans: {
          retryEmails: plan("retry_matching", "FAILED"),
          cancelEmails: plan("cancel_matching", "PENDING"),
        },
      },
      EmailsActionPayload: {
        plans: Object.fromEntries(
          ["dryRun", "outcomes", "more", "actionId"].map((name) => [
            name,
            ($payload: Step) => access($payload, name),
          ]),
        ),
      },
    },
  };
}, "PosthasteMatchingActionsPlugin");

type Arguments = { getRaw(): Step };

interface Given {
  readonly filter: EmailFilterInput;
  readonly dryRun?: boolean | null;
  readonly max?: number | null;
}

interface Request {
  readonly filter: EmailFilter;
  readonly dryRun: boolean;
  readonly max: number;
}

/** Mails of one transaction: short enough that workers do not wait for it. */
const STEP = 500;
const MOST = 10_000;

function readRequest(
  filter: EmailFilterInput,
  dryRun: boolean | null | undefined,
  max: number | null | undefined,
): Request {
  const given = readFilter(filter);
  // A variable that was left out leaves no trace in the filter.
  if (Object.keys(given).length === 0) {
    throw safeError("An empty filter would mean every mail: say which, e.g. by status or by createdFrom.", {
      code: "BAD_INPUT",
      field: "filter",
    });
  }
  const most = max ?? 1000;
  if (most < 1 || most > MOST) {
    throw safeError(`max must be 1 to ${MOST}; it was ${most}.`, { code: "BAD_INPUT", field: "max" });
  }
  return { filter: given, dryRun: dryRun ?? false, max: most };
}

async function actOnAll(
  inTransaction: InTransaction,
  action: MatchingAction,
  status: string,
  request: Request,
) {
  const { filter, dryRun, max } = request;
  // Nothing is matched, but the right to act is asked for before anything is told.
  if (dryRun) await inTransaction((client) => actOnMatching(client, action, { id: [] }, { dryRun, max: 1 }));
  const begun = dryRun ? null : await inTransaction((client) => beginAction(client, action, filter));
  const narrowed = narrow(filter, status);
  const outcomes = new Map<string, number>();
  const add = (outcome: string, emails: number) =>
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + emails);
  let left = max;
  let after: PageEntry | null = null;
  let more = false;
  while (left > 0) {
    const step = Math.min(STEP, left);
    const wanted: PageRequest = { filter: narrowed, sort: "newest", max: step + 1, after };
    const page: readonly PageEntry[] = await inTransaction((client) => pageOfEmails(client, wanted));
    const ids = page.slice(0, step).map(({ id }) => id);
    more = page.length > step;
    if (ids.length === 0) break;
    const counts = await inTransaction(
      (client) => actOnMatching(client, action, { id: ids, status }, { dryRun, max: ids.length }),
      begun === null ? {} : { "posthaste.action": begun },
    );
    for (const { outcome, emails } of counts) if (emails > 0) add(outcome, emails);
    const changed = ids.length - counts.reduce((sum, { emails }) => sum + emails, 0);
    // Between the look and the act, a worker or another operator was there.
    if (changed > 0) add("changed meanwhile", changed);
    after = page[step - 1] ?? null;
    left -= step;
    if (!more) break;
  }
  return {
    dryRun,
    outcomes: [...outcomes].map(([outcome, emails]) => ({ outcome, emails })),
    more,
    actionId: begun,
  };
}

/** Only mail of the status that the action needs; nothing when the filter asks for others. */
function narrow(filter: EmailFilter, status: string): EmailFilter {
  const asked = filter.status;
  return { ...filter, status: asked === undefined || asked.includes(status) ? [status] : [] };
}
