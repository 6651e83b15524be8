import "./environment.ts";
import type { GraphQLSchema } from "graphql";
import { makeSchema } from "postgraphile";
import { ownPreset } from "../../src/graphql/own-preset.ts";
import type { TestDatabase } from "../database.ts";

/** The schema of `posthaste serve`. */
export async function schemaOfServer(pool: TestDatabase["pool"]): Promise<GraphQLSchema> {
  const preset = ownPreset({
    pool,
    settings: { introspection: true, graphiql: true },
    templates: () => Promise.reject(new Error("not needed")),
    onMaskedError: () => undefined,
  });
  return (await makeSchema(preset)).schema;
}
