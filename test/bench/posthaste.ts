// Posthaste's worker process, as `posthaste worker` runs it.
import { join } from "node:path";
import { loadConfiguration } from "../../src/configuration/load.ts";
import { createLog } from "../../src/log.ts";
import { startWorker } from "../../src/worker/worker.ts";
import { answerQuestions } from "./rpc.ts";

const { config, preset } = await loadConfiguration({ file: join(import.meta.dirname, "graphile.config.ts") });
const worker = await startWorker({
  config,
  connectionString: process.env.DATABASE_URL!,
  preset,
  log: createLog({ format: "json" }),
});
answerQuestions({ stop: () => worker.stop() });
