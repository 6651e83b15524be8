import type { Template } from "./template.ts";
import { findPlace } from "./thrown.ts";

/** An error that a template threw when nobody rendered it. */
export interface Stray {
  readonly template: string;
  /** Where in its sources: `emails/welcome.tsx:12:5`. */
  readonly place: string;
}

/**
 * Finds the template whose own timer or event threw this. Null when anything else stands below it on the stack: that was
 * interrupted in its work.
 */
export function findStray(error: unknown, templates: readonly Template[]): Stray | null {
  if (!(error instanceof Error)) return null;
  const frames = String(error.stack)
    .split("\n")
    .filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line) && !/[ (]node:/.test(line));
  const outermost = frames.at(-1) ?? "";
  for (const { name, shown, positions } of templates) {
    if (positions === null || !outermost.includes(positions.url)) continue;
    return { template: name, place: findPlace(frames.join("\n"), positions) ?? shown };
  }
  return null;
}
