import inspector from "node:inspector";
import { Worker } from "node:worker_threads";

/** Watches from a thread of its own whether this process still moves. */
export interface BlockWatch {
  /** Says that this template's module is being run, one at a time, until what it returns is called. */
  importing(template: string): () => void;
  close(): void;
}

/** What both threads see of each other. Numbers: beats of the main thread, and whether a debugger may hold it. */
export interface SharedState {
  readonly numbers: Int32Array;
  /** The template whose module is being run: the length of its name, 0 for none, and the name. */
  readonly name: Uint8Array;
  /** Milliseconds between two looks, which are also those between two beats. */
  readonly tick: number;
  /** Looks in a row without a beat after which the process is ended. */
  readonly patience: number;
}

const NAME_SIZE = 256;

const TICK = 100;

/**
 * Ends this process with SIGKILL when its event loop has not moved for so many milliseconds, after one line in the log. The
 * time is counted in looks of the thread, so that a process that is stopped, or whose machine sleeps, loses nothing. A
 * process that is being debugged is left alone.
 */
export function watchForBlocks(limit: number): BlockWatch {
  const state: SharedState = {
    numbers: new Int32Array(new SharedArrayBuffer(8)),
    name: new Uint8Array(new SharedArrayBuffer(NAME_SIZE)),
    tick: TICK,
    patience: Math.ceil(limit / TICK),
  };
  const beat = () => {
    Atomics.add(state.numbers, 0, 1);
    Atomics.store(state.numbers, 1, inspector.url() === undefined ? 0 : 1);
  };
  beat();
  const beats = setInterval(beat, TICK).unref();
  const file = `./block-watch-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`;
  const thread = new Worker(new URL(file, import.meta.url), { workerData: state });
  thread.unref();

  const encoder = new TextEncoder();
  return {
    importing(template) {
      const { written } = encoder.encodeInto(template, state.name.subarray(1));
      state.name[0] = written;
      return () => {
        state.name[0] = 0;
      };
    },
    close() {
      clearInterval(beats);
      void thread.terminate();
    },
  };
}
