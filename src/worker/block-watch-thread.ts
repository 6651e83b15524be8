import { writeSync } from "node:fs";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import { workerData } from "node:worker_threads";
import { createLog } from "../log.ts";
import { NAME_SIZE, type SharedState } from "./block-watch.ts";

const { numbers, names, tick, patience } = workerData as SharedState;

// The stream of the main thread needs the main thread.
const stderr = Object.assign(
  new Writable({
    write(chunk, _encoding, done) {
      try {
        writeSync(2, chunk);
      } catch {
        // Whoever reads it has stopped reading. That must not keep the process.
      }
      done();
    },
  }),
  { isTTY: isatty(2) },
);

const never = new Int32Array(new SharedArrayBuffer(4));
let beat = -1;
let still = 0;
for (;;) {
  Atomics.wait(never, 0, 0, tick);
  const now = Atomics.load(numbers, 0);
  const debugged = Atomics.load(numbers, 1) === 1;
  still = now === beat && !debugged ? still + 1 : 0;
  beat = now;
  if (still < patience) continue;
  const template = rendered();
  createLog({ stream: stderr })("worker_blocked", {
    ...(template === "" ? {} : { template }),
    duration: still * tick,
    pid: process.pid,
  });
  process.kill(process.pid, "SIGKILL");
}

/** What the main thread was rendering. */
function rendered(): string {
  const found = new Set<string>();
  for (let slot = 0; slot < names.length; slot += NAME_SIZE) {
    const length = names[slot] ?? 0;
    // A copy: a decoder does not read shared memory.
    if (length > 0) found.add(new TextDecoder().decode(names.slice(slot + 1, slot + 1 + length)));
  }
  return [...found].join(", ");
}
