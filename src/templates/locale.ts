/**
 * The locale that a template is given: what the mail asks for when the template is written in that language, so that
 * `de-CH` keeps its own dates and money while the words are those of `de`; otherwise the template's default, the
 * first of its locales. A template that declares none is given what the mail asks for.
 */
export function resolveLocale(requested: string | null, locales: readonly string[]): string | null {
  const [fallback] = locales;
  if (fallback === undefined) return requested;
  const known = locales.map((locale) => locale.toLowerCase());
  for (let tag = requested ?? ""; tag !== ""; tag = tag.slice(0, Math.max(tag.lastIndexOf("-"), 0))) {
    const index = known.indexOf(tag.toLowerCase());
    if (index >= 0) return canonical(requested ?? "") ?? locales[index] ?? fallback;
  }
  return fallback;
}

/** Null for what only looks like a tag: Intl would throw. */
function canonical(locale: string): string | null {
  try {
    return Intl.getCanonicalLocales(locale)[0] ?? null;
  } catch {
    return null;
  }
}
