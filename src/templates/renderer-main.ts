import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { importTemplate } from "./import.ts";
import { renderTemplate } from "./render.ts";
import type { RenderAnswer, RenderRequest } from "./renderer-terms.ts";
import type { Template } from "./template.ts";

// A process that renders mail which may have killed a worker. Its parent ends it; a signal to the whole group
// (Ctrl+C, a service manager's stop) is the parent's to answer, which may still want what is being rendered.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
process.on("disconnect", () => process.exit());

try {
  // Linux: when memory runs out, this is what the kernel ends first.
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Another system has no such file.
}

const guard = new URL(`./renderer-guard${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
new Worker(guard, { workerData: { parent: Number(process.argv[2]) } }).once("online", () => {
  process.on("message", (request: RenderRequest) => void serve(request));
  tell("ready");
});

const templates = new Map<string, Template>();

async function serve({ compiled, path, environment, sample, ...request }: RenderRequest): Promise<void> {
  const key = `${compiled.file.name} ${compiled.version}`;
  let template = templates.get(key);
  if (!template) {
    Object.assign(process.env, environment);
    try {
      template = await importTemplate(compiled, path);
    } catch {
      return tell("unloaded");
    } finally {
      await rm(path, { force: true });
    }
    templates.set(key, template);
  }
  tell("loaded");
  const parameters = sample === null ? request.parameters : (template.samples.get(sample) ?? {});
  tell(await renderTemplate(template, parameters, { ...request, sample: sample !== null }));
}

function tell(answer: RenderAnswer): void {
  process.send?.(answer);
}
