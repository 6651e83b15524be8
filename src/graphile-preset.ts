import { createRequire } from "node:module";

/**
 * Posthaste's status and actions for your own PostGraphile: `extends: [PostGraphileAmberPreset, PosthasteGraphilePreset]`. It
 * needs no schema among those that you expose. Each request acts as the role in its `pgSettings`: give that role
 * posthaste_viewer or posthaste_operator, and set `posthaste.owner` (whose mail a viewer sees) and `posthaste.actor` (who an
 * operator is) there.
 */
export const PosthasteGraphilePreset: GraphileConfig.Preset = {
  // PostGraphile takes longer to load than a worker to start, and every configuration imports this package.
  get extends() {
    const file = `./graphql/preset${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`;
    return [createRequire(import.meta.url)(file).GraphilePreset as GraphileConfig.Preset];
  },
};
