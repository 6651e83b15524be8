import type { RetentionSettings } from "../config.ts";
import { duration, oneOf, type Rule } from "./rules.ts";
import type { Section } from "./section.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

// News of a mail may come late, from a worker's journal: what is about to be told of must still be there.
const age: Rule<number | null> = {
  expected: `${duration(HOUR).expected}, or null to keep it for ever`,
  read: (value) => (value === null ? null : duration(HOUR).read(value)),
};

/** Reads the section `retention`. */
export function readRetention(section: Section): RetentionSettings {
  return {
    sent: section.option("sent", age, 90 * DAY),
    failed: section.option("failed", age, 180 * DAY),
    cancelled: section.option("cancelled", age, 30 * DAY),
    mode: section.option("mode", oneOf("delete", "archive"), "delete"),
    keys: section.option("keys", duration(0), 90 * DAY),
    budget: section.option("budget", duration(1000, 23 * HOUR), HOUR),
  };
}
