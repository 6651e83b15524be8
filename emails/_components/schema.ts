import { z } from "zod";

/** A link in a mail. React escapes text but not URL schemes: without this rule `javascript:` would pass. */
export const link = z.url({ protocol: /^https$/, error: "must be an absolute https: URL" });

/** A link or a mail address to write to. */
export const contact = z.url({ protocol: /^(https|mailto)$/, error: "must be an https: or mailto: URL" });

/** A time as PostgreSQL puts it into JSON: ISO 8601 with an offset. */
export const instant = z.iso.datetime({ offset: true, error: "must be a time in ISO 8601 with an offset" });

/** The zone in which times are written. */
export const timeZone = z
  .string()
  .refine(isTimeZone, "must be a time zone such as Europe/London")
  .default("UTC");

/** ISO 4217. */
export const currency = z.string().regex(/^[A-Z]{3}$/, "must be a currency such as EUR");

// Asking takes as long as a quarter of the rendering of a mail. There are some 600 zones, and more spellings.
const zones = new Set<string>();

function isTimeZone(name: string): boolean {
  if (zones.has(name)) return true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    if (zones.size < 1000) zones.add(name);
    return true;
  } catch {
    return false;
  }
}
