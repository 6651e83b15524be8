/** 59.8 and "EUR" → €59.80; a minus is set as a minus, not as a hyphen */
export function money(amount: number, currency: string, locale?: string): string {
  return numbers({ style: "currency", currency }, locale).format(amount).replace("-", "−");
}

/** 1234.5 → 1,234.5 */
export function figure(value: number, locale?: string): string {
  return numbers({ maximumFractionDigits: 2 }, locale).format(value);
}

/** Saturday, 3 October 2026 */
export function day(iso: string, timeZone: string, locale?: string): string {
  return dates({ dateStyle: "full", timeZone }, locale).format(new Date(iso));
}

/** 3 October at 14:05 UTC: the zone is named, for a time that a reader may have to act by. */
export function moment(iso: string, timeZone: string, locale?: string): string {
  const parts = { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" } as const;
  return dates({ ...parts, timeZoneName: "short", timeZone }, locale).format(new Date(iso));
}

/** 14:05 */
export function clock(iso: string, timeZone: string, locale?: string): string {
  return dates({ hour: "2-digit", minute: "2-digit", timeZone }, locale).format(new Date(iso));
}

// Making a formatter takes longer than rendering the mail around it, so each is made once.
const numbers = once((options: Intl.NumberFormatOptions, locale) => new Intl.NumberFormat(locale, options));
const dates = once((options: Intl.DateTimeFormatOptions, locale) => new Intl.DateTimeFormat(locale, options));

function once<Options, Format>(make: (options: Options, locale: string) => Format) {
  const made = new Map<string, Format>();
  return (options: Options, readers = "en"): Format => {
    // The shop is British: English without a country is its own.
    const locale = readers === "en" ? "en-GB" : readers;
    const key = locale + JSON.stringify(options);
    const format = made.get(key) ?? make(options, locale);
    // Zones and countries are many, and a worker runs for months.
    if (made.size >= 500) made.clear();
    made.set(key, format);
    return format;
  };
}
