/** What of zod 4 is used: any copy of it will do, zod/mini too. */
export interface ParametersSchema {
  safeParse(
    input: unknown,
  ): { success: true; data: unknown } | { success: false; error: { issues: Issue[] } };
}

interface Issue {
  readonly code?: string;
  readonly path: PropertyKey[];
  readonly message: string;
  /** The issues of each alternative of a union that did not fit. */
  readonly errors?: Issue[][];
}

/**
 * Names of the top-level parameters without which the schema rejects its input. They are asked of the schema
 * itself, by an empty object: defaults, pipes, intersections and preprocessing then need no knowledge of zod's
 * insides. A rule of the template's own ("an address or a telephone number") is not taken for a missing name.
 */
export function requiredParameters(schema: ParametersSchema): string[] {
  try {
    const result = schema.safeParse({});
    if (result.success) return [];
    const names = result.error.issues.flatMap(({ code, path }) =>
      code === "custom" || path[0] === undefined ? [] : [String(path[0])],
    );
    return [...new Set(names)];
  } catch {
    // A schema that cannot cope with an empty object names none; it still judges each mail when it is rendered.
    return [];
  }
}

/**
 * `items.0.price: expected number, received string; …`: every path and its rule, never a value. At most 2,000 characters.
 * @param hide takes secrets out of what an author's own rules say
 */
export function describeIssues(issues: readonly Issue[], hide: (text: string) => string): string {
  const text = hide(issues.map((issue) => describeIssue(issue, [])).join("; "));
  return text.length > 2000 ? `${text.slice(0, 1999)}…` : text;
}

function describeIssue(issue: Issue, parent: readonly PropertyKey[]): string {
  const path = [...parent, ...issue.path];
  const alternatives = (issue.errors ?? []).filter((issues) => issues.length > 0);
  const rule =
    alternatives.length === 0
      ? issue.message
      : `fits no alternative (${alternatives
          .map((issues) => issues.map((inner) => describeIssue(inner, path)).join(", "))
          .join(" | ")})`;
  return `${path.length > 0 ? path.map(String).join(".") : "parameters"}: ${rule}`;
}
