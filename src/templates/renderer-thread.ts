import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import inspector from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Rendered } from "./render.ts";
import { HEAP_LIMIT, MEMORY_LIMIT } from "./renderer-terms.ts";
import {
  SHARED,
  type ThreadAnswer,
  type ThreadData,
  type ThreadRequest,
  TICK,
} from "./renderer-thread-terms.ts";
import type { CompiledTemplate, Template } from "./template.ts";

/** Milliseconds that a mail may hold the thread, the first of its template on a busy machine too; those of an import. */
const PATIENCE = 2_000;
const IMPORT_PATIENCE = 20_000;

/** A mail that the thread has rendered. */
export interface RenderedHere {
  readonly rendered: Rendered;
  /** Milliseconds that it took. */
  readonly took: number;
}

/** Rendering in a thread of this process. */
export interface RendererThread {
  /**
   * Renders a mail. Null when the thread was lost with this mail, or another one of its template, in hand: it is to be
   * rendered where it harms nobody. Null also when `signal` gives it up.
   * @param request.timeout milliseconds for rendering that waits for something
   */
  render(
    template: Template,
    request: { parameters: unknown; locale: string | null; timeout: number },
    signal?: AbortSignal,
  ): Promise<RenderedHere | null>;
  close(): Promise<void>;
}

/** Why a thread was given up. */
export type ThreadLoss = "it was blocked" | "it took too much memory" | "it ended";

interface Job {
  readonly key: string;
  readonly template: Template;
  readonly request: Parameters<RendererThread["render"]>[1];
  readonly resolve: (result: RenderedHere | null) => void;
}

interface Running {
  readonly worker: Worker;
  readonly numbers: Int32Array;
  readonly watch: NodeJS.Timeout;
  /** Templates that it has. */
  readonly known: Set<string>;
  /** What it was asked and has not answered, by number. */
  readonly jobs: Map<number, Job>;
  asked: number;
}

/**
 * Renders mail in a thread, one after the other, and starts another one in place of a thread that a template holds or
 * ends. This process goes on meanwhile, and mail that was not begun is begun in the next thread.
 * @param options.templates what the first thread has from the start
 * @param options.patience milliseconds that a mail may hold the thread. Default 2000.
 * @param options.onLost told the templates that were being rendered when a thread was given up
 * @param options.onStray told of an error that a template threw out of turn
 */
export function createRendererThread(options: {
  templates?: readonly Template[];
  patience?: number;
  onLost: (templates: readonly string[], loss: ThreadLoss) => void;
  onStray: (stray: Extract<ThreadAnswer, { stray: unknown }>) => void;
}): RendererThread {
  const folder = mkdtempSync(join(tmpdir(), "posthaste-renderer-"));
  const live = new Set<Running>();
  let closed = false;
  let running: Running | null = start(options.templates);

  function start(preloaded: readonly Template[] = []): Running {
    const numbers = new Int32Array(new SharedArrayBuffer(12));
    const main = `./renderer-thread-main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`;
    const worker = new Worker(new URL(main, import.meta.url), {
      workerData: { numbers, folder, preloaded: preloaded.flatMap(compiledOf) } satisfies ThreadData,
      // V8 ends the thread, but the whole process where code that it has compiled for speed never looks up.
      resourceLimits: { maxOldGenerationSizeMb: HEAP_LIMIT },
    });
    const watch = setInterval(look, TICK).unref();
    const known = new Set(preloaded.map(keyOf));
    const self: Running = { worker, numbers, watch, known, jobs: new Map(), asked: 0 };
    live.add(self);
    let loss: ThreadLoss = "it ended";
    worker.on("message", (answer: ThreadAnswer) => hear(self, answer));
    worker.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "ERR_WORKER_OUT_OF_MEMORY") loss = "it took too much memory";
    });
    worker.on("exit", () => lose(self, loss));

    let beats = 0;
    let still = 0;
    // Counted in looks, so that a process that was stopped, or whose machine slept, blames nobody.
    function look(): void {
      const now = Atomics.load(numbers, SHARED.beats);
      still = self.jobs.size > 0 && now === beats && inspector.url() === undefined ? still + 1 : 0;
      beats = now;
      const isStarting = now === 0 || Atomics.load(numbers, SHARED.importing) > 0;
      const limit = isStarting ? IMPORT_PATIENCE : (options.patience ?? PATIENCE);
      if (still * TICK >= limit) lose(self, "it was blocked");
      else if (still > 0 && !isStarting) void weigh();
    }

    // What is in buffers is outside of the heap, and bounded by nothing.
    async function weigh(): Promise<void> {
      const heap = await worker.getHeapStatistics().catch(() => null);
      if (heap === null) return;
      const { used_heap_size: used, external_memory: outside } = heap;
      if (used + outside > MEMORY_LIMIT * 1024 * 1024) lose(self, "it took too much memory");
    }
    return self;
  }

  function ask(job: Job): void {
    running ??= start();
    const { worker, known, jobs } = running;
    const { key, template, request } = job;
    running.asked += 1;
    jobs.set(running.asked, job);
    const compiled = known.has(key) ? null : template.compiled;
    known.add(key);
    worker.postMessage({ ...request, number: running.asked, key, compiled } satisfies ThreadRequest);
  }

  function hear(from: Running, answer: ThreadAnswer): void {
    if ("stray" in answer) {
      options.onStray(answer);
      return;
    }
    const { number, rendered, took } = answer;
    const job = from.jobs.get(number);
    if (!job) return;
    from.jobs.delete(number);
    if (rendered === null) from.known.delete(job.key);
    // It may run on for ever, beside all that comes after it.
    if (from === running && rendered?.ok === false && rendered.code === "render_timeout") running = start();
    if (from !== running && from.jobs.size === 0) end(from);
    job.resolve(rendered && { rendered, took });
  }

  function lose(lost: Running, loss: ThreadLoss): void {
    if (!live.has(lost)) return;
    end(lost);
    // One that never moved is started again by the next mail, not at once: it may never move.
    const moved = Atomics.load(lost.numbers, SHARED.beats) > 0;
    if (lost === running) running = moved && !closed ? start() : null;
    const suspects = begunBy(lost);
    if (!closed) options.onLost([...new Set(suspects.map(({ template }) => template.name))], loss);
    // What one of them does, another one of the same template may do as well.
    const keys = new Set(suspects.map(({ key }) => key));
    for (const job of lost.jobs.values()) {
      if (!moved || closed || keys.has(job.key)) job.resolve(null);
      else ask(job);
    }
  }

  function end(thread: Running): Promise<unknown> {
    live.delete(thread);
    clearInterval(thread.watch);
    return thread.worker.terminate();
  }

  return {
    render(template, request, signal) {
      if (closed || template.compiled === null) return Promise.resolve(null);
      return new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve(null), { once: true });
        ask({ key: keyOf(template), template, request, resolve });
      });
    },
    async close() {
      closed = true;
      const last = [...live];
      for (const thread of last) lose(thread, "it ended");
      await Promise.all(last.map(({ worker }) => worker.terminate()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What a thread has begun and not ended: one mail, and those that wait for something. */
function begunBy({ numbers, jobs }: Running): Job[] {
  const begun = Atomics.load(numbers, SHARED.begun);
  return [...jobs].flatMap(([number, job]) => (number <= begun ? [job] : []));
}

function keyOf({ name, version }: Template): string {
  return `${name} ${version}`;
}

function compiledOf({ compiled }: Template): CompiledTemplate[] {
  return compiled === null ? [] : [compiled];
}
