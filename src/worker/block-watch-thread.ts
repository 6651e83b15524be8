import { writeSync } from "node:fs";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import { workerData } from "node:worker_threads";
import { createLog } from "../log.ts";
import type { SharedState } from "./block-watch.ts";

const { numbers, name, tick, patience } = workerData as SharedState;

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
  // A copy: a decoder does not read shared memory.
  const template = new TextDecoder().decode(name.slice(1, 1 + (name[0] ?? 0)));
  createLog({ stream: stderr })("worker_blocked", {
    ...(template === "" ? {} : { template }),
    duration: still * tick,
    pid: process.pid,
  });
  process.kill(process.pid, "SIGKILL");
}
