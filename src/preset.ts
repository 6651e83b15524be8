import { workerDefaults } from "./worker/defaults.ts";
import { PosthastePlugin } from "./worker/plugin.ts";

/**
 * Posthaste for a Graphile Worker: `extends: [PosthastePreset]` in a `graphile.config.ts`, next to the scope
 * `posthaste`. What the file says under `worker` goes before the defaults here.
 */
export const PosthastePreset: GraphileConfig.Preset = {
  extends: [workerDefaults],
  plugins: [PosthastePlugin],
};
