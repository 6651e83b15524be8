import { closest } from "./closest.ts";
import { problemWith, type Rule, shown } from "./rules.ts";

/** One object of the configuration, read option by option. What is wrong goes to the list of problems. */
export interface Section {
  /** The option's value; the default when it is left out, undefined or wrong. */
  option<T>(name: string, rule: Rule<T>, fallback: T): T;
  /** An object inside it; an empty one when it is left out or wrong. */
  section(name: string): Section;
  /** The names that have a value, in order; undefined counts as left out, as with `url: process.env.X`. */
  names(): readonly string[];
  /** Whether the name is there at all, also with the value undefined. */
  mentions(name: string): boolean;
  /** Reports each name that nobody asked for, here and in the sections inside. Called once, at the end. */
  rejectUnknown(): void;
}

/** Reads `value` as the object at `path`. Messages say path, rule, and the value received. */
export function openSection(value: unknown, path: string, problems: string[]): Section {
  const fields = asObject(value, path, problems);
  const known = new Set<string>();
  const inside: Section[] = [];
  return {
    option(name, rule, fallback) {
      known.add(name);
      const given = fields[name];
      if (given === undefined) return fallback;
      const read = rule.read(given);
      if (read !== undefined) return read;
      problems.push(problemWith(`${path}.${name}`, rule, given));
      return fallback;
    },
    section(name) {
      known.add(name);
      const section = openSection(fields[name], `${path}.${name}`, problems);
      inside.push(section);
      return section;
    },
    names: () => Object.keys(fields).filter((name) => fields[name] !== undefined),
    mentions: (name) => Object.hasOwn(fields, name),
    rejectUnknown() {
      for (const name of Object.keys(fields).filter((field) => !known.has(field))) {
        const meant = closest(name, known);
        problems.push(
          meant === null
            ? `${path}.${name} is not an option; remove it, or use one of ${[...known].join(", ")}.`
            : `${path}.${name} is not an option; did you mean "${meant}"?`,
        );
      }
      for (const section of inside) section.rejectUnknown();
    },
  };
}

function asObject(value: unknown, path: string, problems: string[]): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  problems.push(`${path} must be an object; received ${shown(value)}.`);
  return {};
}
