import { extendSchema, gql } from "postgraphile/utils";
import type { EmailFilter } from "../database/ledger.ts";
import { safeError } from "./safe-errors.ts";

/** The input EmailFilter as a client gives it. */
export interface EmailFilterInput {
  readonly ids?: readonly string[] | null;
  readonly status?: readonly string[] | null;
  readonly template?: string | null;
  readonly recipient?: string | null;
  readonly reference?: string | null;
  readonly owner?: string | null;
  readonly errorCode?: readonly string[] | null;
  readonly transport?: string | null;
  readonly possibleDuplicate?: boolean | null;
  readonly createdFrom?: string | null;
  readonly createdBefore?: string | null;
}

/** The filter that lists, counts and actions share. */
export const FilterPlugin: GraphileConfig.Plugin = extendSchema(
  {
    typeDefs: gql`
      "Which mails: all conditions together. An empty one means all."
      input EmailFilter {
        "One of these, at most 1,000."
        ids: [UUID!]
        "In one of these states."
        status: [EmailStatus!]
        "Of this template."
        template: String
        "Operators: to this address, in To, Cc or Bcc: jane@shop.example."
        recipient: String
        "About this, e.g. order:42."
        reference: String
        "Of this user or tenant."
        owner: String
        "With one of these causes."
        errorCode: [String!]
        "Operators: by this transport."
        transport: String
        "Operators: that may, or cannot, have arrived twice."
        possibleDuplicate: Boolean
        "Enqueued at this time or later."
        createdFrom: Datetime
        "Enqueued before this time."
        createdBefore: Datetime
      }
    `,
  },
  "PosthasteFilterPlugin",
);

/** The filter in the words of the SQL functions. Throws a safe error for a null: a variable that was forgotten must not mean everything. */
export function readFilter(input: EmailFilterInput | null | undefined): EmailFilter {
  const given = Object.entries(input ?? {});
  const empty = given.find(([, value]) => value === null);
  if (empty) {
    throw safeError(`filter.${empty[0]} is null: leave it out, or give it a value.`, {
      code: "BAD_INPUT",
      field: `filter.${empty[0]}`,
    });
  }
  if (Math.max(0, ...given.map(([, value]) => (Array.isArray(value) ? value.length : 0))) > MOST_VALUES) {
    throw safeError(`A filter takes at most ${MOST_VALUES} values in a list.`, { code: "BAD_INPUT" });
  }
  return Object.fromEntries(
    given.map(([name, value]) => [NAMES[name as keyof EmailFilterInput], read(name, value)]),
  );
}

const MOST_VALUES = 1000;

const NAMES: Readonly<Record<keyof EmailFilterInput, keyof EmailFilter>> = {
  ids: "id",
  status: "status",
  template: "template",
  recipient: "recipient",
  reference: "reference",
  owner: "owner",
  errorCode: "error_code",
  transport: "transport",
  possibleDuplicate: "possible_duplicate",
  createdFrom: "since",
  createdBefore: "until",
};

function read(name: string, value: unknown): unknown {
  // One value can be looked up along an index in order.
  if (name === "errorCode" && Array.isArray(value) && value.length === 1) return value[0];
  // `Ada <ada@shop.example>`, as copied from the To line.
  if (name === "recipient") return /<([^<>]*)>\s*$/.exec(String(value))?.[1] ?? value;
  return value;
}
