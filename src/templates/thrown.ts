import { SourceMap, type SourceMapPayload } from "node:module";
import { stripVTControlCharacters } from "node:util";

/** Turns a place in a compiled module into one in its sources. */
export interface SourcePositions {
  /** URL under which the module was imported. */
  readonly url: string;
  readonly map: SourceMap;
}

/** The positions of a module that is imported under this URL. */
export function sourcePositions(url: string, map: SourceMapPayload): SourcePositions {
  return { url, map: new SourceMap(map) };
}

/**
 * Says what a template (`shown`: its file) threw and where, on one line of at most 500 characters:
 * `emails/order-confirmed.tsx:12:5: TypeError: …`. Never throws itself, whatever was thrown. With `secret` it keeps to
 * itself what was said.
 *
 * Positions are mapped here, not by Node's `--enable-source-maps`, which is a setting of the whole process and
 * not ours to change in somebody's application.
 */
export function describeThrown(
  thrown: unknown,
  shown: string,
  positions: SourcePositions | null,
  options: { secret: boolean } = { secret: false },
): string {
  let text: string;
  try {
    const place = positions && thrown instanceof Error ? findPlace(String(thrown.stack), positions) : null;
    const said = options.secret ? kindOf(thrown) : show(thrown);
    text = `${place ?? shown}: ${said}`;
  } catch {
    text = `${shown}: threw something that cannot be shown`;
  }
  const line = stripVTControlCharacters(text).replace(/[\x00-\x1f\x7f]+/g, " ");
  return line.length > 500 ? `${line.slice(0, 499)}…` : line;
}

/** Where the innermost frame of a stack lies in a template's sources, or in what was compiled into it; null: nowhere. */
export function findPlace(stack: string, { url, map }: SourcePositions): string | null {
  const start = stack.indexOf(url);
  if (start < 0) return null;
  const at = /^:(\d+):(\d+)/.exec(stack.slice(start + url.length));
  if (!at) return null;
  const origin = map.findOrigin(Number(at[1]), Number(at[2]));
  return "fileName" in origin ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}` : null;
}

function show(thrown: unknown): string {
  if (thrown instanceof Error) return String(thrown);
  if (thrown === null || thrown === undefined) return `threw ${thrown}`;
  return `threw a ${typeof thrown}: ${String(thrown)}`;
}

/** Where parameters are secret, what is thrown may quote one. */
function kindOf(thrown: unknown): string {
  const kind = thrown instanceof Error && /^\w{1,60}$/.test(thrown.name) ? thrown.name : "threw something";
  return `${kind} (its words are left out, because this template has secret parameters)`;
}
