import type { Rendered } from "./render.ts";
import type { CompiledTemplate } from "./template.ts";

/** Most of JavaScript's heap that a process for rendering may have, in MB. */
export const HEAP_LIMIT = 256;

/** Most memory that it may have in all, in MB: what a template puts into buffers is outside of the heap. */
export const MEMORY_LIMIT = 512;

/** The descriptor on which the process says why it ends itself. */
export const REASON_PIPE = 4;

/** One mail for the process to render. */
export interface RenderRequest {
  readonly compiled: CompiledTemplate;
  /** Where the module is put while it is imported. */
  readonly path: string;
  /** Variables that the template names. */
  readonly environment: Readonly<Record<string, string>>;
  readonly parameters: unknown;
  /** Name of one of the template's own samples, in place of the parameters; null for the parameters. */
  readonly sample: string | null;
  readonly locale: string | null;
  /** Milliseconds. */
  readonly timeout: number;
}

/** What the process says: that it runs, that it has the template or has no room for it, and what became of rendering. */
export type RenderAnswer = "ready" | "loaded" | "unloaded" | Rendered;
