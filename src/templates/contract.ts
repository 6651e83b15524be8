import { inspect } from "node:util";
import type { ParametersSchema } from "./parameters.ts";

/** The module of a template as it was imported. */
export type TemplateModule = Readonly<Record<string, unknown>>;

/** The first rule of the contract of a template that a module breaks, or null. */
export function findProblem(module: TemplateModule): string | null {
  const { default: component, subject, parameters, secrets, onUnknownOutcome, text } = module;
  if (typeof component !== "function") {
    return `must export its component as default, a function; it exports ${component === undefined ? "no default" : show(component)}`;
  }
  if (typeof subject !== "string" && typeof subject !== "function") {
    return `must export \`subject\`, a string or a function of the props; it exports ${subject === undefined ? "no subject" : show(subject)}`;
  }
  if (text !== undefined && typeof text !== "string" && typeof text !== "function") {
    return `\`text\` must be a string or a function of the props, not ${show(text)}`;
  }
  if (onUnknownOutcome !== undefined && onUnknownOutcome !== "resend" && onUnknownOutcome !== "fail") {
    return `\`onUnknownOutcome\` must be "resend" or "fail", not ${show(onUnknownOutcome)}`;
  }
  if (parameters !== undefined && typeof (parameters as ParametersSchema | null)?.safeParse !== "function") {
    return `\`parameters\` must be a zod schema, not ${show(parameters)}`;
  }
  const shape = shapeOf(parameters);
  if (shape && Object.hasOwn(shape, "key")) {
    return "must not have a parameter `key`: React keeps that name to itself; give it another one";
  }
  return (
    findProblemOfSamples(module.samples) ??
    findProblemOfLocales(module.locales) ??
    findProblemOfSecrets(secrets, parameters)
  );
}

const NAMES = [
  "subject",
  "parameters",
  "PreviewProps",
  "samples",
  "locales",
  "text",
  "secrets",
  "onUnknownOutcome",
];

/**
 * Exports whose name is one of the contract but for its case or a plural's s, where that one is not exported: without
 * a word, `secret` for `secrets` would leave a code in the database.
 */
export function findMisspelt(module: TemplateModule): Map<string, string> {
  const bare = (name: string) => name.toLowerCase().replace(/s$/, "");
  const { PreviewProps } = Object(module.default);
  const exported: TemplateModule = { PreviewProps, ...module };
  const missing = NAMES.filter((name) => exported[name] === undefined);
  return new Map(
    Object.keys(module).flatMap((name) => {
      const meant = NAMES.includes(name) ? undefined : missing.find((each) => bare(each) === bare(name));
      return meant === undefined ? [] : [[name, meant] as const];
    }),
  );
}

function findProblemOfSamples(samples: unknown): string | null {
  if (samples === undefined) return null;
  if (!isObject(samples)) return `\`samples\` must be an object of props by name, not ${show(samples)}`;
  for (const [name, props] of Object.entries(samples)) {
    if (name === "default") return "`samples` must not have one named default: that is `PreviewProps`";
    if (!isObject(props)) return `\`samples\`: ${show(name)} must be an object of props, not ${show(props)}`;
  }
  return null;
}

function findProblemOfLocales(locales: unknown): string | null {
  if (locales === undefined) return null;
  if (!Array.isArray(locales) || locales.length === 0) {
    return `\`locales\` must be an array of language tags, the default first, not ${show(locales)}`;
  }
  const wrong = locales.find((locale) => !isCanonicalTag(locale));
  return wrong === undefined
    ? null
    : `\`locales\`: ${show(wrong)} must be a BCP 47 tag in its usual spelling, such as "de" or "pt-BR"`;
}

function isCanonicalTag(locale: unknown): boolean {
  try {
    return typeof locale === "string" && Intl.getCanonicalLocales(locale)[0] === locale;
  } catch {
    return false;
  }
}

/** A misspelt secret would be kept for ever, so every step of its path must be there where the schema tells. */
function findProblemOfSecrets(secrets: unknown, parameters: unknown): string | null {
  if (secrets === undefined) return null;
  if (!Array.isArray(secrets) || !secrets.every((path) => typeof path === "string" && PATH.test(path))) {
    return `\`secrets\` must be an array of paths of parameters such as "code" or "links.reset", not ${show(secrets)}`;
  }
  for (const path of secrets as readonly string[]) {
    let schema: unknown = parameters;
    for (const step of path.split(".")) {
      const shape = shapeOf(schema);
      if (shape && !Object.hasOwn(shape, step)) {
        return `\`secrets\` names ${show(path)}, which is not one of its parameters`;
      }
      schema = shape?.[step];
    }
  }
  return null;
}

const PATH = /^[^.]+(\.[^.]+)*$/;

/** The fields of an object schema; null for other schemas, and without one. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | null {
  const shape = (schema as { shape?: unknown } | undefined)?.shape;
  return isObject(shape) ? shape : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string"
    ? JSON.stringify(value)
    : inspect(value, { depth: 0, breakLength: Infinity });
}
