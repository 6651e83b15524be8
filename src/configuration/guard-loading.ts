import { writeSync } from "node:fs";
import inspector from "node:inspector";
import { Worker } from "node:worker_threads";

/**
 * While a file runs that is not ours, what it does to this process is told on stderr: when it ends it, the exit code is 1;
 * when it blocks it, so that no timer has its turn, the process is killed a second after `timeout` (milliseconds). Call
 * what it returns when the file has ended.
 */
export function guardLoading(options: { onExit: string; onBlock: string; timeout: number }): () => void {
  const onExit = (): void => {
    writeSync(2, `posthaste: ${options.onExit}\n`);
    process.exitCode = 1;
  };
  process.once("exit", onExit);
  const ended = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(KILL_IN_TIME, {
    eval: true,
    execArgv: [],
    workerData: { ended, limit: options.timeout + 1000, text: `posthaste: ${options.onBlock}\n` },
  });
  thread.unref();
  // Whoever debugs it stops it where he likes.
  if (inspector.url() !== undefined) void thread.terminate();
  return () => {
    process.off("exit", onExit);
    Atomics.store(ended, 0, 1);
    Atomics.notify(ended, 0);
  };
}

// Only a signal ends a process from one of its threads.
const KILL_IN_TIME = `
  const { workerData: { ended, limit, text } } = require("node:worker_threads");
  if (Atomics.wait(ended, 0, 0, limit) === "timed-out") {
    require("node:fs").writeSync(2, text);
    process.kill(process.pid, "SIGKILL");
  }
`;
