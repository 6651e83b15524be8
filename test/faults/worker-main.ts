import { validateConfiguration } from "../../src/configuration/validate.ts";
import { PosthasteError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { guardProcess } from "../../src/worker/own-process.ts";
import { startWorker, untilSignalled } from "../../src/worker/worker.ts";

// A worker process for tests that kill it: configured by one variable, and ended by a signal only.
const { options, connectionString } = JSON.parse(process.env.POSTHASTE_TEST_WORKER ?? "{}");
const { config, problems } = validateConfiguration({
  options,
  directory: process.cwd(),
  environment: {},
  sends: true,
});
if (problems.length > 0) throw new Error(problems.join("\n"));

try {
  const signalled = untilSignalled();
  const log = createLog({ format: "json" });
  const guard = guardProcess(log, config.timeouts.render);
  const worker = await startWorker({ config, connectionString, log, guard });
  await signalled;
  await worker.stop();
  guard.close();
} catch (error) {
  if (!(error instanceof PosthasteError)) throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}
