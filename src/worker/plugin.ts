import { validateConfiguration } from "../configuration/validate.ts";
import "../configuration/options.ts";
import { PosthasteError } from "../errors.ts";
import { createLog, describeError } from "../log.ts";
import { version } from "../package-root.ts";
import { type Engine, startEngine } from "./engine.ts";
import { hasEngine, provideEngine } from "./send-email.ts";

/**
 * Lets an application's own Graphile Worker send mail: starts Posthaste's engine with the worker's pool and stops it
 * with the pool. It is in `PosthastePreset`; the task itself is one file, `tasks/posthaste/send_email.ts`.
 */
export const PosthastePlugin: GraphileConfig.Plugin = {
  name: "PosthastePlugin",
  version,
  worker: {
    hooks: {
      init(ctx) {
        // Not for migrations and other short-lived uses of the library: only a pool runs jobs.
        ctx.events.on("pool:create", ({ workerPool }) => {
          if (hasEngine()) return;
          const log = createLog();
          const starting = startFor(ctx.resolvedPreset, log);
          provideEngine(starting);
          starting.then(
            (engine) => engine.attachPool(workerPool.id, ctx.events),
            (error) => log("unexpected", { error: describeError(error) }),
          );
          ctx.events.once("pool:gracefulShutdown", () => {
            provideEngine(null);
            starting
              .then((engine) => engine.stop())
              .catch((error) => log("unexpected", { error: describeError(error) }));
          });
        });
      },
    },
  },
};

async function startFor(
  preset: GraphileConfig.ResolvedPreset,
  log: ReturnType<typeof createLog>,
): Promise<Engine> {
  const { config, problems } = validateConfiguration({
    options: preset.posthaste,
    directory: process.cwd(),
    environment: process.env,
    sends: true,
  });
  const connectionString = preset.worker?.connectionString;
  const all = connectionString
    ? problems
    : [...problems, "worker.connectionString is missing; Posthaste opens connections of its own."];
  if (!connectionString || all.length > 0)
    throw new PosthasteError(`The configuration is not valid: ${all.join(" ")}`);
  return startEngine({ config, connectionString, log });
}
