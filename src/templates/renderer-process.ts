import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Rendered } from "./render.ts";
import { HEAP_LIMIT, REASON_PIPE, type RenderAnswer, type RenderRequest } from "./renderer-terms.ts";

/** An answer, or why there is none; `slow` when the process, and not the template, took too long. */
export type Reply =
  | { readonly rendered: Rendered }
  | { readonly ended: "timeout" | "slow" | "stopped" | "memory" }
  | { readonly ended: "died"; readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process for rendering. */
export interface RendererProcess {
  readonly pid: number | undefined;
  /** Whether it runs and can be asked. */
  readonly alive: boolean;
  /** Renders one mail; one at a time. Ends the process when it takes too long, or when `signal` says so. */
  ask(request: Omit<RenderRequest, "path">, signal: AbortSignal): Promise<Reply>;
  /** Resolves when it is gone. */
  end(): Promise<void>;
}

/** Milliseconds for starting the process, and for importing a template. */
const START_TIMEOUT = 30_000;

/** Starts a process that has nothing of this one: no secrets in its environment, no connections, not much memory. */
export async function startRenderer(): Promise<RendererProcess> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-renderer-"));
  const main = `renderer-main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`;
  const child = fork(join(import.meta.dirname, main), [String(process.pid)], {
    env: inherited(),
    execArgv: [`--max-old-space-size=${HEAP_LIMIT}`],
    stdio: ["ignore", "ignore", "ignore", "ipc", "pipe"],
  });
  let alive = true;
  let reason: "memory" | "timeout" | "slow" | "stopped" | null = null;
  let hear: (answer: RenderAnswer) => void = () => {};
  let modules = 0;
  const says = child.stdio[REASON_PIPE] as Readable;
  says.on("data", () => {
    reason ??= "memory";
  });
  const ended = new Promise<Reply>((resolve) => {
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      alive = false;
      resolve(reason ? { ended: reason } : { ended: "died", code, signal });
    };
    child.once("close", end);
    child.once("error", () => child.pid === undefined && end(null, null));
  });
  // What it was told when it died is of no more interest.
  child.on("error", () => undefined);
  child.on("message", (answer: RenderAnswer) => hear(answer));
  const ready = new Promise<void>((resolve) => {
    hear = () => resolve();
  });

  function stop(why: "timeout" | "slow" | "stopped"): void {
    reason ??= why;
    child.kill("SIGKILL");
  }

  return {
    pid: child.pid,
    get alive() {
      return alive && reason === null;
    },
    async ask(request, signal) {
      const abort = () => stop("stopped");
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      let timer = setTimeout(stop, START_TIMEOUT, "slow");
      try {
        await Promise.race([ready, ended]);
        const rendered = new Promise<Reply>((resolve) => {
          hear = (answer) => {
            if (answer === "unloaded") return resolve({ ended: "slow" });
            if (answer !== "loaded" && answer !== "ready") return resolve({ rendered: answer });
            clearTimeout(timer);
            timer = setTimeout(stop, request.timeout, "timeout");
          };
        });
        modules += 1;
        if (alive) child.send({ ...request, path: join(folder, `${modules}.mjs`) } satisfies RenderRequest);
        return await Promise.race([rendered, ended]);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      }
    },
    async end() {
      stop("stopped");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What makes a mail look as it does in this process, and says nothing about it. */
function inherited(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) =>
    /^(NODE_ENV|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|TEMP|TMP|SystemRoot)$/.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}
