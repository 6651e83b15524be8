import type { Rendered } from "./render.ts";
import { type RendererProcess, type Reply, startRenderer } from "./renderer-process.ts";
import { HEAP_LIMIT, MEMORY_LIMIT } from "./renderer-terms.ts";
import type { Template } from "./template.ts";

/**
 * As `Rendered`, or that the process ended. `by` the template and what it does; by the system, perhaps, for want of memory:
 * then another try may go well; or by nobody, because none could be started.
 */
export type RenderedApart =
  | Rendered
  | {
      readonly ok: false;
      readonly code: "worker_crashed";
      readonly message: string;
      readonly by: "template" | "system" | "nobody";
    };

/** Rendering outside of this process: whatever a template does there, it ends in time and harms nobody. */
export interface Isolation {
  /** How many are being rendered or wait for their turn. */
  readonly waiting: number;
  /**
   * Renders one mail when its turn has come; null when `signal` gave it up.
   * @param request.sample a name of the template's own samples, in place of the parameters
   * @param request.timeout milliseconds, from when the process has the template
   */
  render(
    template: Template,
    request: { parameters: unknown; sample?: string; locale: string | null; timeout: number },
    signal?: AbortSignal,
  ): Promise<RenderedApart | null>;
}

/**
 * Renders one mail at a time in a process that is started for it, and goes on with the next one as long as one waits and
 * all goes well. What goes wrong in a process that has rendered another mail before is tried once more in a fresh one, so
 * that nobody answers for what another template has left behind.
 */
export function createIsolation(): Isolation {
  let renderer: RendererProcess | null = null;
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();

  async function ask(request: Parameters<RendererProcess["ask"]>[0], signal: AbortSignal): Promise<Reply> {
    if (renderer?.alive) {
      const reply = await renderer.ask(request, signal);
      if ("rendered" in reply && reply.rendered.ok) return reply;
    }
    await leave();
    if (signal.aborted) return { ended: "stopped" };
    try {
      renderer = await startRenderer();
    } catch {
      return { ended: "slow" };
    }
    return renderer.ask(request, signal);
  }

  async function leave(): Promise<void> {
    await renderer?.end();
    renderer = null;
  }

  return {
    get waiting() {
      return waiting;
    },
    async render(template, { sample = null, ...request }, signal = new AbortController().signal) {
      const { compiled } = template;
      if (compiled === null)
        return { ok: false, code: "render_failed", message: template.broken ?? template.shown };
      waiting += 1;
      const before = turn;
      let next = () => {};
      turn = new Promise<void>((resolve) => {
        next = resolve;
      });
      try {
        await before;
        const environment = variablesOf(compiled.code);
        const reply = await ask({ ...request, compiled, environment, sample }, signal);
        if (!("rendered" in reply && reply.rendered.ok)) await leave();
        return verdictOf(reply, template.shown, request.timeout);
      } finally {
        waiting -= 1;
        if (waiting === 0) await leave();
        next();
      }
    },
  };
}

function verdictOf(reply: Reply, shown: string, timeout: number): RenderedApart | null {
  if ("rendered" in reply) return reply.rendered;
  const died = (what: string, by: "template" | "system" | "nobody"): RenderedApart => {
    return { ok: false, code: "worker_crashed", message: `${shown}: ${what}`, by };
  };
  const unstarted = () => died("no process could be started to render it in", "nobody");
  switch (reply.ended) {
    case "stopped":
      return null;
    case "timeout":
      return {
        ok: false,
        code: "render_timeout",
        message: `${shown}: did not end within ${timeout} ms (timeouts.render)`,
      };
    case "memory":
      return died(`took more than ${MEMORY_LIMIT} MB of memory in a process of its own`, "template");
    case "slow":
      return unstarted();
    case "died": {
      const { code, signal } = reply;
      if (code === null && signal === null) return unstarted();
      // A template could send them to itself, but who does so from outside is the system, or a service manager.
      if (signal === "SIGKILL" || signal === "SIGTERM" || signal === "SIGINT" || signal === "SIGHUP")
        return died(`something else ended its process (${signal})`, "system");
      if (signal === "SIGABRT")
        return died(
          `ended its process (SIGABRT): it aborts, or takes more than ${HEAP_LIMIT} MB of heap`,
          "template",
        );
      return died(`ended its process (${signal ?? `exit code ${code}`})`, "template");
    }
  }
}

/** The variables of the environment that a template reads, with their values: it looks the same wherever it is rendered. */
function variablesOf(code: string): Record<string, string> {
  const names = [...code.matchAll(/\bprocess\.env(?:\.(\w+)|\[\s*["'](\w+)["']\s*\])/g)].map(
    ([, dotted, quoted]) => dotted ?? quoted ?? "",
  );
  for (const [, taken = ""] of code.matchAll(/\{([^{}]*)\}\s*=\s*process\.env\b/g))
    names.push(...taken.split(",").map((part) => part.trim().split(/[\s:=]/)[0] ?? ""));
  return Object.fromEntries(names.flatMap((name) => [[name, process.env[name]]]).filter(isSet));
}

function isSet(entry: readonly (string | undefined)[]): entry is [string, string] {
  return entry[1] !== undefined && entry[1] !== "";
}
