import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "../log.ts";
import { importTemplate } from "./import.ts";
import { renderTemplate } from "./render.ts";
import {
  SHARED,
  type ThreadAnswer,
  type ThreadData,
  type ThreadRequest,
  TICK,
} from "./renderer-thread-terms.ts";
import { findStray } from "./stray.ts";
import type { CompiledTemplate, Template } from "./template.ts";

// The thread in which a worker renders its mail. It begins one after the other, so that the one that stops it is known.

/** Milliseconds after which a mail that lets go of the processor is waiting for something, and the next one is begun. */
const WAITS = 20;

const { numbers, folder, preloaded } = workerData as ThreadData;
const templates = new Map<string, Template | null>();
const loaded: Template[] = [];
const queue: ThreadRequest[] = [];
let working = false;

setInterval(() => Atomics.add(numbers, SHARED.beats, 1), TICK);
process.on("uncaughtException", (error) => {
  const stray = findStray(error, loaded);
  // Nobody knows what else it has broken.
  if (stray === null) process.exit(1);
  tell({ stray, error: describeError(error) });
});
for (const [index, compiled] of preloaded.entries()) {
  templates.set(`${compiled.file.name} ${compiled.version}`, await load(compiled, `start-${index}`));
}
parentPort?.on("message", (request: ThreadRequest) => {
  queue.push(request);
  if (!working) void work();
});

async function work(): Promise<void> {
  working = true;
  for (let request = queue.shift(); request !== undefined; request = queue.shift()) {
    Atomics.store(numbers, SHARED.begun, request.number);
    Atomics.add(numbers, SHARED.beats, 1);
    const template = await templateOf(request);
    await Promise.race([serve(template, request), delay(WAITS)]);
    // Lets in what has come meanwhile.
    await setImmediate();
  }
  working = false;
}

async function templateOf({ number, key, compiled }: ThreadRequest): Promise<Template | null> {
  if (compiled !== null) templates.set(key, await load(compiled, `${number}`));
  return templates.get(key) ?? null;
}

async function serve(
  template: Template | null,
  { number, parameters, ...request }: ThreadRequest,
): Promise<void> {
  const began = performance.now();
  const rendered = template ? await renderTemplate(template, parameters, request) : null;
  tell({ number, rendered, took: performance.now() - began });
}

/** Null when it cannot be imported here, where it could in the process: no room on the disk, for example. */
async function load(compiled: CompiledTemplate, name: string): Promise<Template | null> {
  const path = join(folder, `${name}.mjs`);
  Atomics.store(numbers, SHARED.importing, 1);
  try {
    await mkdir(folder, { recursive: true });
    const template = await importTemplate(compiled, path);
    loaded.push(template);
    return template.broken === null ? template : null;
  } catch {
    return null;
  } finally {
    Atomics.store(numbers, SHARED.importing, 0);
    await rm(path, { force: true });
  }
}

function tell(answer: ThreadAnswer): void {
  parentPort?.postMessage(answer);
}
