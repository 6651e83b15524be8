import type { SourceMapPayload } from "node:module";
import type { ComponentType } from "react";
import { findMisspelt, findProblem, type TemplateModule } from "./contract.ts";
import type { TemplateFile } from "./find.ts";
import { type ParameterTypes, parameterTypes } from "./parameter-types.ts";
import { type ParametersSchema, requiredParameters } from "./parameters.ts";
import type { SourcePositions } from "./thrown.ts";

/** A template as it was compiled: all that another process needs to have the same one. Plain data. */
export interface CompiledTemplate {
  readonly file: TemplateFile;
  readonly version: string;
  /** One JavaScript module; it imports packages by their absolute URLs. */
  readonly code: string;
  readonly map: SourceMapPayload;
  readonly rawHtml: readonly string[];
}

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
  /** The JSON types of its top-level parameters, where the schema says them: `{"total": ["number", "null"]}`. */
  readonly types: ParameterTypes;
  /** Paths of parameters that are erased once the mail is sent: `export const secrets = ["code", "links.reset"]`. */
  readonly secrets: readonly string[];
  /** Languages that it is written in, the default first; empty when it takes any. */
  readonly locales: readonly string[];
  /** What this template wants after a hand-over without a reply; null: as configured. */
  readonly onUnknownOutcome: "resend" | "fail" | null;
  /** Why it cannot be used, with file and line; null when it can. */
  readonly broken: string | null;
  /** Example parameters for previews and checks by name: `PreviewProps` is `default`, then the named `samples`. */
  readonly samples: ReadonlyMap<string, Props>;
  /** The sample `default`; null without. */
  readonly previewProps: Props | null;
  /** Places where its files put raw HTML into the mail without saying why that is safe. */
  readonly rawHtml: readonly string[];
  /** Exports that look like one of the contract that is not there, and that one: `secret` → `secrets`. */
  readonly misspelt: ReadonlyMap<string, string>;
  readonly component: ComponentType<Props>;
  readonly subject: string | ((props: Props) => unknown);
  /** The template's own text part; null: made from the HTML. */
  readonly text: string | ((props: Props) => unknown) | null;
  readonly parameters: ParametersSchema | null;
  readonly positions: SourcePositions | null;
  /** What it was made from; null when it is broken. */
  readonly compiled: CompiledTemplate | null;
}

/** Holds a module against the contract of a template. What does not fit makes it a broken template, with the reason. */
export function readTemplate(
  compiled: CompiledTemplate,
  module: TemplateModule,
  positions: SourcePositions,
): Template {
  const { file, version, rawHtml } = compiled;
  const problem = findProblem(module);
  if (problem) return brokenTemplate(file, `${file.shown}: ${problem}`, version);
  const exports = module as unknown as Exports;
  const previewProps = exports.PreviewProps ?? exports.default.PreviewProps;
  return {
    ...file,
    version,
    required: exports.parameters ? requiredParameters(exports.parameters) : [],
    types: parameterTypes(exports.parameters),
    secrets: exports.secrets ?? [],
    locales: exports.locales ?? [],
    onUnknownOutcome: exports.onUnknownOutcome ?? null,
    broken: null,
    samples: new Map([
      ...(previewProps ? ([["default", previewProps]] as const) : []),
      ...Object.entries(exports.samples ?? {}),
    ]),
    previewProps: previewProps ?? null,
    rawHtml,
    misspelt: findMisspelt(module),
    component: exports.default,
    subject: exports.subject,
    text: exports.text ?? null,
    parameters: exports.parameters ?? null,
    positions,
    compiled,
  };
}

/** A template that is there but cannot be used. */
export function brokenTemplate(file: TemplateFile, broken: string, version = ""): Template {
  return {
    ...file,
    version,
    required: [],
    types: {},
    secrets: [],
    locales: [],
    onUnknownOutcome: null,
    broken,
    samples: new Map(),
    previewProps: null,
    rawHtml: [],
    misspelt: new Map(),
    component: () => null,
    subject: "",
    text: null,
    parameters: null,
    positions: null,
    compiled: null,
  };
}

/** What a template's file may export. */
interface Exports {
  readonly default: ComponentType<Props> & { readonly PreviewProps?: Props };
  readonly subject: string | ((props: Props) => unknown);
  readonly parameters?: ParametersSchema;
  readonly PreviewProps?: Props;
  readonly samples?: Readonly<Record<string, Props>>;
  readonly secrets?: readonly string[];
  readonly locales?: readonly string[];
  readonly onUnknownOutcome?: "resend" | "fail";
  readonly text?: string | ((props: Props) => unknown);
}
