import { access, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import { safely, sentence } from "./safe-errors.ts";

/** Why an action was not done. */
export interface Refusal {
  readonly reason: keyof typeof REASONS | "INVALID";
  readonly status: string | null;
  readonly code: string;
  readonly field: string | null;
  readonly message: string;
  readonly hint: string | null;
}

/** The type of refusals. */
export const RefusalPlugin: GraphileConfig.Plugin = extendSchema(
  {
    typeDefs: gql`
      "Why an action cannot be done."
      enum RefusalReason {
        "There is no such mail."
        NOT_FOUND
        "Its status is another one than the action needs; see status."
        WRONG_STATUS
        "Its expiresAt has passed."
        EXPIRED
        "Its secret parameters were erased."
        SECRETS_GONE
        "An address in it cannot be mailed."
        ADDRESS_INVALID
        "The transport is not paused."
        NOT_PAUSED
        "The idempotency key belongs to another request."
        KEY_TAKEN
        "A value cannot be used; see field."
        INVALID
      }

      "An action that was not done, and why."
      type Refusal {
        "Why, for programs."
        reason: RefusalReason!
        "The status that the mail has."
        status: EmailStatus
        "The SQLSTATE, as README lists them."
        code: String!
        "The field or argument that it is about, in the words of the SQL functions."
        field: String
        "Why, for people."
        message: String!
        "What to do about it."
        hint: String
      }
    `,
    objects: {
      Refusal: {
        plans: Object.fromEntries(
          ["reason", "status", "code", "field", "message", "hint"].map((name) => [
            name,
            ($refusal: Step) => access($refusal, name),
          ]),
        ),
      },
    },
  },
  "PosthasteRefusalPlugin",
);

/** Does something, or tells in a typed way why it cannot be done. Whatever is no refusal of our SQL functions is thrown. */
export async function orRefusal<T>(
  work: () => Promise<T>,
): Promise<
  { readonly done: T; readonly refusal: null } | { readonly done: null; readonly refusal: Refusal }
> {
  try {
    return { done: await work(), refusal: null };
  } catch (error) {
    const refusal = refusalOf(error);
    return refusal ? { done: null, refusal } : safely(() => Promise.reject(error));
  }
}

const REASONS = {
  NOT_FOUND: "PH020",
  WRONG_STATUS: "PH021",
  EXPIRED: "PH022",
  SECRETS_GONE: "PH023",
  ADDRESS_INVALID: "PH024",
  KEY_TAKEN: "PH001",
  NOT_PAUSED: "",
} as const;

function refusalOf(error: unknown): Refusal | null {
  const { code, message = "", hint, detail, column } = Object(error) as Partial<Record<string, string>>;
  if (typeof code !== "string" || !code.startsWith("PH")) return null;
  const [reason] = Object.entries(REASONS).find(([, state]) => state === code) ?? ["INVALID"];
  return {
    reason: code === "PH021" && column === "transport" ? "NOT_PAUSED" : (reason as Refusal["reason"]),
    status: /^Status: ([A-Z]+)$/.exec(detail ?? "")?.[1] ?? null,
    code,
    field: column ?? null,
    message: sentence(message),
    hint: hint ?? null,
  };
}
