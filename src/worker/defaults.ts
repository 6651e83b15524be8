import { fileURLToPath } from "node:url";
import { WorkerPreset } from "graphile-worker";

/** Graphile Worker as Posthaste needs it. */
export const workerDefaults: GraphileConfig.Preset = {
  extends: [WorkerPreset],
  worker: {
    // Without a batch, finishing a job is not awaited: a lost connection there would end the process.
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    // Jobs are hints and cheap to fetch many at a time; those stranded here by a crash are added again.
    localQueue: { size: 100 },
    // LISTEN may be lost silently, so polling bounds the delay.
    pollInterval: 1500,
    // src/ and dist/src/ both have the tasks beside them.
    taskDirectory: fileURLToPath(new URL("../../tasks", import.meta.url)),
  },
};
