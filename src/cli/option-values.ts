import { InvalidArgumentError } from "commander";
import { closest } from "../configuration/closest.ts";
import { parseDuration } from "../configuration/durations.ts";

/** Reads a whole number between two bounds, both included. */
export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** Reads the tag of a language, as enqueue() takes it. */
export function languageTag(text: string): string {
  if (/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,5}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be a BCP 47 tag such as de, de-CH or zh-Hant-TW.");
}

/** Gathers the values of an option that may be repeated. */
export function gather(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Gathers words of a known set; one option may name several, separated by commas. */
export function gatherOneOf(
  words: readonly string[],
): (value: string, before: readonly string[]) => readonly string[] {
  return (value, before) => {
    const given = value.split(",").map((part) => part.trim());
    const found = given.map(
      (part) => words.find((word) => word.toLowerCase() === part.toLowerCase()) ?? part,
    );
    const wrong = found.find((part) => !words.includes(part));
    if (wrong === undefined) return [...before, ...found];
    const guess = closest(wrong, words);
    throw new InvalidArgumentError(
      guess === null ? `It must be one of ${words.join(", ")}.` : `Did you mean ${guess}?`,
    );
  };
}

/** Reads a moment that lies in the past: `2h` is two hours ago. Returns ISO 8601. */
export function past(text: string): string {
  return moment(text, -1, "ago");
}

/** Reads a moment that lies in the future: `2h` is in two hours. Returns ISO 8601. */
export function future(text: string): string {
  return moment(text, 1, "from now");
}

/** A duration, a date, or a date with a time; without a zone it is local time. */
function moment(text: string, direction: 1 | -1, relation: string): string {
  const duration = parseDuration(text);
  const date = duration === null ? absolute(text) : new Date(Date.now() + direction * duration);
  if (date !== null && !Number.isNaN(date.getTime())) return date.toISOString();
  throw new InvalidArgumentError(
    `It must be a duration such as 90s, 2h or 5d (${relation}), or a time such as 2026-01-31 or 2026-01-31T18:00.`,
  );
}

function absolute(text: string): Date | null {
  const [, year, month, day, time = "00:00", zone = ""] = MOMENT.exec(text.trim()) ?? [];
  // JavaScript would read the 31st of February as a day of March.
  const known = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (known.getUTCDate() !== Number(day)) return null;
  return new Date(`${year}-${month}-${day}T${time}${zone.toUpperCase()}`);
}

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/i;
