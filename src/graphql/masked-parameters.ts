import type { Template } from "../templates/template.ts";

/** What stands where a secret was. */
const MASK = "•••••";

/**
 * The parameters with each secret replaced. A mask need not fit the template's schema (a code of six digits); what stands
 * in the template's own samples does, so `withSamples` takes that where there is one.
 */
export function maskedParameters(template: Template, parameters: unknown, withSamples: boolean): unknown {
  const copy = structuredClone(parameters);
  for (const secret of template.secrets) {
    const path = secret.split(".");
    const sample = withSamples ? valueAt(template.samples.get("default"), path) : undefined;
    replace(copy, path, sample ?? MASK);
  }
  return copy;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, name) => (Object.hasOwn(Object(inside), name) ? Object(inside)[name] : undefined),
    value,
  );
}

/** Also where it is missing: after the mail was sent, secrets are gone. */
function replace(value: unknown, path: readonly string[], mask: unknown): void {
  const [name = "", ...rest] = path;
  if (typeof value !== "object" || value === null || name === "__proto__") return;
  const fields = value as Record<string, unknown>;
  if (rest.length === 0) fields[name] = mask;
  else replace(fields[name], rest, mask);
}
