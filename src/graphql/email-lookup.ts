import type { PgExecutor } from "postgraphile/@dataplan/pg";
import { access, constant, list, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import { hasNodeId } from "./email.ts";
import { idOfKey, visibleId } from "./email-loader.ts";
import { isEmailSpecifier } from "./node-id.ts";

/** One mail, by its id or by its key. */
const EmailQueriesPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  return {
    typeDefs: gql`
      extend type Query {
        "The mail of this id; null when there is none, or none that you may see."
        email(id: UUID!): Email
        "The mail of this idempotency key; null when there is none, or none that you may see."
        emailByIdempotencyKey(idempotencyKey: String!): Email
      }
    `,
    objects: {
      Query: {
        plans: {
          email: (_$root, args) => visibleId(executor, args.getRaw("id")),
          emailByIdempotencyKey: (_$root, args) =>
            visibleId(executor, idOfKey(executor, args.getRaw("idempotencyKey"))),
        },
      },
    },
  };
}, "PosthasteEmailQueriesPlugin");

/** One mail by Relay's id, where the schema calls that nodeId. */
const EmailNodePlugin: GraphileConfig.Plugin = {
  name: "PosthasteEmailNodePlugin",
  version: "0.0.0",
  inflection: {
    ignoreReplaceIfNotExists: ["nodeById"],
    replace: {
      // Its own name would be `email`, which is the field that takes the UUID.
      nodeById: (previous, _options, typeName) =>
        typeName === "Email" ? "emailByNodeId" : (previous?.(typeName) ?? typeName),
    },
  },
  schema: {
    hooks: {
      init: {
        after: ["PosthasteEmailPlugin"],
        callback(ignored, build) {
          if (!hasNodeId(build) || !build.registerNodeIdHandler) return ignored;
          const executor = build.pgExecutor as PgExecutor;
          const codec = build.getNodeIdCodec?.("base64JSON");
          if (!codec) return ignored;
          build.registerNodeIdHandler({
            typeName: "Email",
            codec,
            match: isEmailSpecifier,
            getIdentifiers: (specifier) => [(specifier as readonly string[])[1]],
            getSpec: ($specifier) => ({ id: access($specifier, [1]) }),
            get: (spec) => visibleId(executor, (spec as { id: Step }).id),
            plan: ($id) => list([constant("Email"), $id as Step]),
          });
          return ignored;
        },
      },
    },
  },
};

/** How one mail is found. */
export const EmailLookupPreset: GraphileConfig.Preset = { plugins: [EmailQueriesPlugin, EmailNodePlugin] };
