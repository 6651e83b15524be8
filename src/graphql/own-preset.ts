import { GraphQLError, NoSchemaIntrospectionCustomRule } from "graphql";
import { makePgService } from "postgraphile/adaptors/pg";
import { isSafeError } from "postgraphile/grafast";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import type { HttpSettings } from "../config.ts";
import type { TemplateCatalog } from "../templates/load.ts";
import { type Identity, settingsOf } from "./http/identity.ts";
import { GraphilePreset } from "./preset.ts";
import { described } from "./safe-errors.ts";

/** What the server of `posthaste serve` is made of. */
export interface OwnPresetOptions {
  readonly pool: Pool;
  readonly settings: Pick<HttpSettings, "introspection" | "graphiql">;
  readonly templates: () => Promise<TemplateCatalog>;
  /** Told of an error that the client is not told of, by the id that the client is told. */
  readonly onMaskedError: (errorId: string, error: unknown) => void;
}

type Pool = NonNullable<Parameters<typeof makePgService>[0]["pool"]>;

declare global {
  namespace Grafast {
    interface RequestContext {
      /** Who asks. Without it a request may do nothing. */
      posthasteIdentity?: Identity;
    }
  }
}

/** The preset of `posthaste serve`: nothing but Posthaste, and Relay's id is called nodeId. */
export function ownPreset(options: OwnPresetOptions): GraphileConfig.Preset {
  const { pool, settings, templates, onMaskedError } = options;
  return {
    extends: [PostGraphileAmberPreset, GraphilePreset],
    plugins: [NodeIdPlugin, ...(settings.introspection ? [] : [NoIntrospectionPlugin])],
    disablePlugins: ["QueryQueryPlugin", "RegisterQueryNodePlugin"],
    pgServices: [
      makePgService({
        pool,
        schemas: [],
        pgSettings: ({ posthasteIdentity }: Partial<Grafast.RequestContext>) =>
          settingsOf(posthasteIdentity ?? null),
      }),
    ],
    // Its warnings would print what clients send.
    schema: { dontSwallowErrors: true, muteWarnings: true },
    grafast: {
      context: { posthasteTemplates: templates },
      // Planning holds the process; running does not, and a step that has begun ends by statement_timeout.
      timeouts: { planning: 1000, execution: 30_000 },
      maxPlanningDepth: 60,
    },
    grafserv: {
      graphqlPath: "/graphql",
      graphqlOverGET: false,
      graphiql: settings.graphiql,
      graphiqlPath: "/graphiql",
      graphiqlOnGraphQLGET: false,
      websockets: false,
      watch: false,
      allowedRequestContentTypes: ["application/json"],
      maskError: (error) => mask(error, onMaskedError),
    },
  };
}

/**
 * Safe errors pass; of all others the client is told an id, by which the log is searched. That the database is gone is told
 * both: such an error may come from anywhere, before any work of ours has begun.
 */
function mask(error: GraphQLError, onMaskedError: OwnPresetOptions["onMaskedError"]): GraphQLError {
  const cause = error.originalError;
  if (cause === undefined || cause instanceof GraphQLError) return error;
  const place = {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
  };
  if (isSafeError(cause))
    return new GraphQLError(cause.message, { ...place, extensions: { ...cause.extensions } });
  const errorId = crypto.randomUUID().slice(0, 8);
  onMaskedError(errorId, cause);
  const known = described(cause);
  if (known?.extensions?.code === "UNAVAILABLE")
    return new GraphQLError(known.message, { ...place, extensions: { ...known.extensions, errorId } });
  return new GraphQLError(`An unexpected error; the log tells of it under ${errorId}.`, {
    ...place,
    extensions: { code: "UNEXPECTED", errorId },
  });
}

const NodeIdPlugin: GraphileConfig.Plugin = {
  name: "PosthasteNodeIdPlugin",
  version: "0.0.0",
  inflection: { replace: { nodeIdFieldName: () => "nodeId" } },
};

const NoIntrospectionPlugin: GraphileConfig.Plugin = {
  name: "PosthasteNoIntrospectionPlugin",
  version: "0.0.0",
  grafserv: {
    middleware: {
      setPreset(next, event) {
        event.validationRules.push(NoSchemaIntrospectionCustomRule);
        return next();
      },
    },
  },
};
