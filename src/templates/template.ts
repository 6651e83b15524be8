import { inspect } from "node:util";
import type { ComponentType } from "react";
import type { TemplateFile } from "./find.ts";
import { type ParametersSchema, requiredParameters } from "./parameters.ts";
import type { SourcePositions } from "./thrown.ts";

/** Props of a template: its parameters after the schema, and `locale` when the mail has one. */
export type Props = Readonly<Record<string, unknown>>;

/** A template of the catalogue: what its file exports, checked. */
export interface Template {
  /** `billing/invoice` */
  readonly name: string;
  /** Absolute path of the .tsx file. */
  readonly file: string;
  /** The path as messages name it: `emails/billing/invoice.tsx`. */
  readonly shown: string;
  /** Hash of everything that it was compiled from, 16 hex digits; empty when it does not compile. */
  readonly version: string;
  /** Top-level parameters that its schema asks for. */
  readonly required: readonly string[];
  /** Parameters that are erased once the mail is sent: `export const secrets = ["code"]`. */
  readonly secrets: readonly string[];
  /** What this template wants after a hand-over without a reply; null: as configured. */
  readonly onUnknownOutcome: "resend" | "fail" | null;
  /** Why it cannot be used, with file and line; null when it can. */
  readonly broken: string | null;
  /** Example parameters for previews and checks, by React Email's convention; null without. */
  readonly previewProps: Props | null;
  readonly component: ComponentType<Props>;
  readonly subject: string | ((props: Props) => unknown);
  /** The template's own text part; null: made from the HTML. */
  readonly text: string | ((props: Props) => unknown) | null;
  readonly parameters: ParametersSchema | null;
  readonly positions: SourcePositions | null;
}

/** The module of a template as it was imported. */
export type TemplateModule = Readonly<Record<string, unknown>>;

/** Holds a module against the contract of a template. What does not fit makes it a broken template, with the reason. */
export function readTemplate(
  file: TemplateFile,
  version: string,
  module: TemplateModule,
  positions: SourcePositions,
): Template {
  const problem = findProblem(module);
  if (problem) return brokenTemplate(file, `${file.shown}: ${problem}`, version);
  const exports = module as unknown as Exports;
  return {
    ...file,
    version,
    required: exports.parameters ? requiredParameters(exports.parameters) : [],
    secrets: exports.secrets ?? [],
    onUnknownOutcome: exports.onUnknownOutcome ?? null,
    broken: null,
    previewProps: exports.PreviewProps ?? exports.default.PreviewProps ?? null,
    component: exports.default,
    subject: exports.subject,
    text: exports.text ?? null,
    parameters: exports.parameters ?? null,
    positions,
  };
}

/** A template that is there but cannot be used. */
export function brokenTemplate(file: TemplateFile, broken: string, version = ""): Template {
  return {
    ...file,
    version,
    required: [],
    secrets: [],
    onUnknownOutcome: null,
    broken,
    previewProps: null,
    component: () => null,
    subject: "",
    text: null,
    parameters: null,
    positions: null,
  };
}

/** What a template's file may export. */
interface Exports {
  readonly default: ComponentType<Props> & { readonly PreviewProps?: Props };
  readonly subject: string | ((props: Props) => unknown);
  readonly parameters?: ParametersSchema;
  readonly PreviewProps?: Props;
  readonly secrets?: readonly string[];
  readonly onUnknownOutcome?: "resend" | "fail";
  readonly text?: string | ((props: Props) => unknown);
}

/** The first rule of the contract that a module breaks, or null. */
function findProblem(module: TemplateModule): string | null {
  const { default: component, subject, parameters, secrets, onUnknownOutcome, text } = module;
  if (typeof component !== "function") {
    return `must export its component as default, a function; it exports ${show(component)}`;
  }
  if (typeof subject !== "string" && typeof subject !== "function") {
    return `must export \`subject\`, a string or a function of the props; it exports ${show(subject)}`;
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
  const known = knownParameters(parameters);
  if (known?.includes("key")) {
    return "must not have a parameter `key`: React keeps that name to itself; give it another one";
  }
  return findProblemOfSecrets(secrets, known);
}

/** A misspelt secret would be kept for ever, so every one must be a parameter where the parameters are known. */
function findProblemOfSecrets(secrets: unknown, known: readonly string[] | null): string | null {
  if (secrets === undefined) return null;
  if (!Array.isArray(secrets) || !secrets.every((path) => typeof path === "string" && path !== "")) {
    return `\`secrets\` must be an array of names of parameters, not ${show(secrets)}`;
  }
  const unknown = known
    ? secrets.find((path: string) => !known.includes(path.split(".")[0] ?? ""))
    : undefined;
  return unknown === undefined
    ? null
    : `\`secrets\` names ${show(unknown)}, which is not one of its parameters`;
}

/** The keys of an object schema; null for other schemas, and without one. */
function knownParameters(parameters: unknown): string[] | null {
  const shape = (parameters as { shape?: unknown } | undefined)?.shape;
  return typeof shape === "object" && shape !== null ? Object.keys(shape) : null;
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string"
    ? JSON.stringify(value)
    : inspect(value, { depth: 0, breakLength: Infinity });
}
