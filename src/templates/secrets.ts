/**
 * Makes a function that takes the values of secret parameters out of a text. A rule that an author writes may quote
 * what it was given.
 * @param paths `code`, `links.reset`; a step through an array means each of its elements
 */
export function hideSecrets(parameters: unknown, paths: readonly string[]): (text: string) => string {
  const values = paths.flatMap((path) => valuesAt(parameters, path.split(".")));
  // The longest first: one may be a part of another.
  const texts = [...new Set(values)].sort((a, b) => b.length - a.length);
  return (text) => texts.reduce((left, secret) => left.replaceAll(secret, "[secret]"), text);
}

/** All texts and numbers that stand at or below a path. */
function valuesAt(value: unknown, steps: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((element) => valuesAt(element, steps));
  if (typeof value === "object" && value !== null) {
    const [step, ...rest] = steps;
    if (step === undefined) return Object.values(value).flatMap((inner) => valuesAt(inner, []));
    return Object.hasOwn(value, step) ? valuesAt((value as Record<string, unknown>)[step], rest) : [];
  }
  return (typeof value === "string" && value !== "") || typeof value === "number" ? [String(value)] : [];
}
