/**
 * The wording of these mails is English, so dates and figures are written in the reader's English (`en-US`,
 * `en-GB`), and in British English for everybody else. Who translates the wording drops this rule.
 */
function english(locale: string | undefined): string {
  try {
    const [tag] = Intl.getCanonicalLocales(locale ?? []);
    return tag?.startsWith("en") ? tag : "en-GB";
  } catch {
    return "en-GB";
  }
}

/** 59.8 and "EUR" → €59.80; a minus is set as a minus, not as a hyphen */
export function money(amount: number, currency: string, locale?: string): string {
  return new Intl.NumberFormat(english(locale), { style: "currency", currency })
    .format(amount)
    .replace("-", "−");
}

/** 1234.5 → 1,234.5 */
export function figure(value: number, locale?: string): string {
  return new Intl.NumberFormat(english(locale), { maximumFractionDigits: 2 }).format(value);
}

/** Saturday, 3 October 2026 */
export function day(iso: string, timeZone: string, locale?: string): string {
  return new Intl.DateTimeFormat(english(locale), { dateStyle: "full", timeZone }).format(new Date(iso));
}

/** 3 October, 14:05 UTC: the zone is named, for a time that a reader may have to act by. */
export function moment(iso: string, timeZone: string, locale?: string): string {
  return new Intl.DateTimeFormat(english(locale), {
    day: "numeric",
    month: "long",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone,
  }).format(new Date(iso));
}

/** 14:05 */
export function clock(iso: string, timeZone: string, locale?: string): string {
  return new Intl.DateTimeFormat(english(locale), { hour: "2-digit", minute: "2-digit", timeZone }).format(
    new Date(iso),
  );
}
