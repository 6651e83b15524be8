import type { ErrorDescription } from "../log.ts";
import type { Rendered } from "./render.ts";
import type { Stray } from "./stray.ts";
import type { CompiledTemplate } from "./template.ts";

/** Milliseconds between two beats of the thread, which are also those between two looks at it. */
export const TICK = 100;

/** Where the numbers stand that both threads see. */
export const SHARED = {
  /** Changes as long as the thread moves. */
  beats: 0,
  /** The number of the last mail that was begun. */
  begun: 1,
  /** Whether a module is being imported, which takes longer than a mail. */
  importing: 2,
} as const;

/** What the thread is made of. */
export interface ThreadData {
  readonly numbers: Int32Array;
  /** A folder for modules while they are imported. */
  readonly folder: string;
  /** Templates that it imports before anything else. */
  readonly preloaded: readonly CompiledTemplate[];
}

/** One mail for the thread to render. */
export interface ThreadRequest {
  /** 1, 2, 3, … in the order of sending, which is the order of beginning. */
  readonly number: number;
  /** Name and version of the template. */
  readonly key: string;
  /** The template, when the thread has not got it yet. */
  readonly compiled: CompiledTemplate | null;
  readonly parameters: unknown;
  readonly locale: string | null;
  /** Milliseconds. */
  readonly timeout: number;
}

/** What the thread says: what became of a mail, or that a template threw an error out of turn. */
export type ThreadAnswer =
  | {
      readonly number: number;
      /** Null: the thread cannot have the template. */
      readonly rendered: Rendered | null;
      /** Milliseconds that it took. */
      readonly took: number;
    }
  | { readonly stray: Stray; readonly error: ErrorDescription };
