import { formatDuration, parseDuration } from "./durations.ts";
import { masked } from "./masked.ts";

/** What one option must be. */
export interface Rule<T> {
  /** Ends the sentence "… must be". */
  readonly expected: string;
  /** The value in its validated form; undefined when it breaks the rule. */
  readonly read: (value: unknown) => T | undefined;
  /** How a wrong value is shown. Default: `shown`. */
  readonly show?: (value: unknown) => string;
  /** What is wrong with a value where that is known better than by the rule: ends the sentence "… ". */
  readonly explain?: (value: unknown) => string | null;
}

/** The sentence about a value that breaks the rule. */
export function problemWith(name: string, rule: Rule<unknown>, value: unknown): string {
  const known = rule.explain?.(value) ?? null;
  if (known !== null) return `${name} ${known}`;
  return `${name} must be ${rule.expected}; received ${(rule.show ?? shown)(value)}.`;
}

/** A whole number between two bounds, both included. */
export function integer(least: number, most: number): Rule<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    read: (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
        ? value
        : undefined,
  };
}

/** A duration between two bounds in milliseconds, both included. */
export function duration(least: number, most = Number.POSITIVE_INFINITY): Rule<number> {
  const range =
    most < Number.POSITIVE_INFINITY
      ? ` from ${formatDuration(least)} to ${formatDuration(most)}`
      : ` of at least ${formatDuration(least)}`;
  return {
    expected: `a duration${range}, such as "10s", "2m", "1h", "5d" or a number of milliseconds`,
    read: (value) => {
      const milliseconds = parseDuration(value);
      return milliseconds !== null && milliseconds >= least && milliseconds <= most
        ? milliseconds
        : undefined;
    },
  };
}

/** A list of durations that holds at least one, each of at least `least` milliseconds. */
export function durations(least: number): Rule<readonly number[]> {
  const one = duration(least);
  return {
    expected: `a list of durations of at least ${formatDuration(least)} with at least one entry, such as ["30s", "2m"]`,
    read: (value) => {
      if (!Array.isArray(value) || value.length === 0) return undefined;
      const all = value.map((entry) => one.read(entry));
      return all.every((entry) => entry !== undefined) ? all : undefined;
    },
  };
}

/** A number of octets between two bounds, both included. */
export function octets(least: number, most: number): Rule<number> {
  return {
    expected: `a size of at least ${least} octets, such as "25MB", "10MiB" or a number of octets`,
    read: (value) => {
      const [, number, unit = ""] =
        /^(\d+(?:\.\d+)?)\s?(B|kB|MB|KiB|MiB)$/.exec(
          typeof value === "number" ? `${value}B` : String(value),
        ) ?? [];
      const size = Math.round(Number(number) * (UNITS[unit] ?? Number.NaN));
      return size >= least && size <= most ? size : undefined;
    },
  };
}

const UNITS: Readonly<Record<string, number>> = { B: 1, kB: 1e3, MB: 1e6, KiB: 2 ** 10, MiB: 2 ** 20 };

/** One of a few words. */
export function oneOf<const T extends string>(...words: readonly T[]): Rule<T> {
  return {
    expected: words.map((word) => `"${word}"`).join(" or "),
    read: (value) => words.find((word) => word === value),
  };
}

/** Text that is not empty and holds no control characters. */
export const text: Rule<string> = {
  expected: "text that is not empty",
  read: (value) =>
    typeof value === "string" && value.trim() !== "" && !CONTROL.test(value) ? value : undefined,
};

/** One word, as the database's own setting `environment` is. */
export const word: Rule<string> = {
  expected: "a word of 1 to 63 letters, digits, - and _",
  read: (value) => (typeof value === "string" && /^[A-Za-z0-9_-]{1,63}$/.test(value) ? value : undefined),
};

/** The name of a header, or null for none. */
export const headerName: Rule<string | null> = {
  expected: 'the name of a header, such as "Resend-Idempotency-Key"',
  read: (value) =>
    value === null || (typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9-]{0,75}$/.test(value))
      ? value
      : undefined,
};

/** A sender: `user@host` or `Name <user@host>`. The message composer parses it in full. */
export const mailbox: Rule<string> = {
  expected: 'one address, "user@host" or "Name <user@host>"',
  read: (value) => {
    if (typeof value !== "string" || CONTROL.test(value)) return undefined;
    const bare = /^[^<>]*<([^<>]*)>$/.exec(value.trim())?.[1] ?? value.trim();
    return /^[^\s@<>,;:()[\]\\"]+@[^\s@<>,;:()[\]\\"]+$/.test(bare) ? value.trim() : undefined;
  },
};

/** A list of addresses or domains that may be mailed. An empty one allows nobody. */
export const allowance: Rule<readonly string[] | null> = {
  expected: 'a list of addresses or domains, such as ["jane@shop.example", "@shop.example"]',
  read: (value) =>
    Array.isArray(value) &&
    value.every((entry) => typeof entry === "string" && /^[^\s@<>]*@[^\s@<>]+$/.test(entry))
      ? value
      : undefined,
};

/** The URL of a mail server. Shown without user, password and query, whatever is wrong with it. */
export const smtpUrl: Rule<string> = {
  expected:
    'a URL such as "smtp://user:password@host:587" or "smtps://…", with special characters in user and password percent-encoded',
  read: (value) => {
    if (typeof value !== "string" || !URL.canParse(value)) return undefined;
    const url = new URL(value);
    const known = url.protocol === "smtp:" || url.protocol === "smtps:";
    const bare = (url.pathname === "" || url.pathname === "/") && url.hash === "";
    return known && url.hostname !== "" && bare && decodes(url.username + url.password) ? value : undefined;
  },
  show: (value) => (typeof value === "string" ? masked(value) : shown(value)),
  explain: (value) => {
    if (typeof value !== "string" || !BARE_HOST.test(value)) return null;
    const scheme = value.endsWith(":465") ? "smtps" : "smtp";
    return `lacks its scheme; did you mean ${scheme}://${value}?`;
  },
};

/** A host with a port, or a name with dots: what cannot be a password. */
const BARE_HOST = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*:\d{1,5}|[a-z0-9-]+(?:\.[a-z0-9-]+)+)$/i;

/** A wrong value for a message: short, with URLs masked, and never the inside of an object. */
export function shown(value: unknown): string {
  if (typeof value === "string") {
    const safe = value.includes("://") ? masked(value) : value.replace(CONTROL_ALL, "?");
    return JSON.stringify(safe.length > 60 ? `${safe.slice(0, 60)}…` : safe);
  }
  if (Array.isArray(value))
    return `[${value.slice(0, 8).map(shown).join(", ")}${value.length > 8 ? ", …" : ""}]`;
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}

const CONTROL = /[\x00-\x1f\x7f]/;
const CONTROL_ALL = /[\x00-\x1f\x7f]/g;

function decodes(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}
