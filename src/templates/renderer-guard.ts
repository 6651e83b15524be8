import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { MEMORY_LIMIT, REASON_PIPE } from "./renderer-terms.ts";

// A thread beside a template, which may never let go of its own: it ends the process when the parent is gone, or when
// there is too much in memory.
const { parent } = workerData as { parent: number };

const ticks = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  Atomics.wait(ticks, 0, 0, 50);
  const full = process.memoryUsage.rss() > MEMORY_LIMIT * 1024 * 1024;
  if (full) writeSync(REASON_PIPE, "memory");
  if (full || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
}
