import type { ParametersSchema } from "./parameters.ts";

/** Types of JSON, by jsonb_typeof's names. */
export type JsonType = "string" | "number" | "boolean" | "object" | "array" | "null";

/** Which JSON types each top-level parameter may have; one that is not named may have any. */
export type ParameterTypes = Readonly<Record<string, readonly JsonType[]>>;

/**
 * Asks a schema which JSON types its parameters take, for the database, which cannot run zod. It is asked with a value
 * of each type: what it says about the type of the value itself counts, not what it says about a length or a format.
 * So defaults, unions, coercion and preprocessing need no knowledge of zod's insides; where the answer is not certain,
 * any type is allowed.
 */
export function parameterTypes(schema: ParametersSchema | undefined): ParameterTypes {
  const shape = (schema as { shape?: Record<string, ParametersSchema> } | undefined)?.shape;
  if (typeof shape !== "object" || shape === null) return {};
  const types: Record<string, readonly JsonType[]> = {};
  for (const [name, field] of Object.entries(shape)) {
    const accepted = PROBES.filter(([, values]) => values.some((value) => fits(field, value)));
    if (accepted.length > 0 && accepted.length < PROBES.length) types[name] = accepted.map(([type]) => type);
  }
  return types;
}

const PROBES: readonly (readonly [JsonType, readonly unknown[]])[] = [
  ["string", ["", "a"]],
  ["number", [0, 1.5]],
  ["boolean", [true, false]],
  ["object", [{}]],
  ["array", [[]]],
  ["null", [null]],
];

/** False only when the schema says that the value has the wrong type. */
function fits(field: ParametersSchema, value: unknown): boolean {
  try {
    const result = field.safeParse(value);
    return result.success || !result.error.issues.every(isAboutType);
  } catch {
    return true;
  }
}

interface TypeIssue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly values?: readonly unknown[];
  readonly errors?: readonly (readonly TypeIssue[])[];
}

function isAboutType({ code, path, errors }: TypeIssue): boolean {
  if (path.length > 0) return false;
  if (code === "invalid_union") return (errors ?? []).every((issues) => issues.some(isAboutType));
  return code === "invalid_type";
}
