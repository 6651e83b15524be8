import { loadOneWithPgClient, type PgClient, type PgExecutor } from "postgraphile/@dataplan/pg";
import { access, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import { pauseTransport, resumeTransport } from "../database/acting.ts";
import { transports } from "../database/pages.ts";
import { act } from "./act.ts";
import { orRefusal } from "./refusal.ts";
import { safely } from "./safe-errors.ts";

/** Stopping a transport, and letting it send again. */
export const TransportActionsPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const plan =
    (work: (client: PgClient, given: Given) => Promise<void>) =>
    (_$root: unknown, args: { getRaw(): Step }) =>
      act(executor, args.getRaw() as Step<Given>, async (inTransaction, given) => {
        const { refusal } = await orRefusal(() => inTransaction((client) => work(client, given)));
        return { name: given.name, refusal };
      });
  return {
    typeDefs: gql`
      "What came of an action on a transport."
      type TransportActionPayload {
        "The transport as it is now."
        transport: Transport
        "Why it was not done; null when it was."
        refusal: Refusal
      }

      extend type Mutation {
        "Operators: stops a transport until it is resumed. Its mail waits; what is being sent at this moment ends."
        pauseTransport(name: String!, reason: String): TransportActionPayload
        "Operators: lets a paused transport send again."
        resumeTransport(name: String!): TransportActionPayload
      }
    `,
    objects: {
      Mutation: {
        plans: {
          pauseTransport: plan((client, { name, reason }) => pauseTransport(client, name, reason ?? null)),
          resumeTransport: plan((client, { name }) => resumeTransport(client, name)),
        },
      },
      TransportActionPayload: {
        plans: {
          transport: ($payload: Step) =>
            loadOneWithPgClient(executor, access<string>($payload, "name"), byName),
          refusal: ($payload: Step) => access($payload, "refusal"),
        },
      },
    },
  };
}, "PosthasteTransportActionsPlugin");

interface Given {
  readonly name: string;
  readonly reason?: string | null;
}

const byName = {
  name: "transportByName",
  load: (client: PgClient, names: readonly string[]) =>
    safely(async () => {
      const all = await transports(client);
      return names.map((wanted) => all.find(({ name }) => name === wanted) ?? null);
    }),
};
