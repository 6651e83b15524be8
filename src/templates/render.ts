import { TIMED_OUT, within } from "../timeout.ts";
import { renderHtml } from "./html.ts";
import { resolveLocale } from "./locale.ts";
import { describeIssues } from "./parameters.ts";
import { toPlainText } from "./plain-text.ts";
import { hideSecrets } from "./secrets.ts";
import type { Props, Template } from "./template.ts";
import { describeThrown } from "./thrown.ts";

/** What became of rendering: the parts of a mail, or a code of the registry and what an operator needs to know. */
export type Rendered =
  | { readonly ok: true; readonly subject: string; readonly html: string; readonly text: string }
  | {
      readonly ok: false;
      readonly code: "parameters_invalid" | "render_failed" | "render_timeout";
      readonly message: string;
    };

/**
 * Fills a template. Never throws, whatever the template does. No message repeats a parameter's value, but that what
 * a template throws is quoted (at most 500 characters), and may; not when the template has secret parameters.
 * @param options.locale what the mail asks for; the template gets it as the prop `locale`, see `resolveLocale`
 * @param options.sample the parameters are the author's own, of the template's file: then what is thrown is always quoted
 * @param options.timeout milliseconds for rendering that waits for something; code that never lets go of the
 * processor is not stopped by it
 */
export async function renderTemplate(
  template: Template,
  parameters: unknown,
  options: { locale: string | null; timeout: number; sample?: boolean },
): Promise<Rendered> {
  if (template.broken !== null) return failed(template.broken);
  try {
    const checked = checkParameters(template, parameters);
    if ("code" in checked) return checked;
    const locale = resolveLocale(options.locale, template.locales);
    const props = locale === null ? checked.props : { ...checked.props, locale };
    const rendered = await within(options.timeout, renderParts(template, props));
    if (rendered !== TIMED_OUT) return rendered;
    const message = `${template.shown}: did not end within ${options.timeout} ms (timeouts.render)`;
    return { ok: false, code: "render_timeout", message };
  } catch (error) {
    const secret = template.secrets.length > 0 && options.sample !== true;
    return failed(describeThrown(error, template.shown, template.positions, { secret }));
  }
}

function checkParameters(template: Template, parameters: unknown): { readonly props: Props } | Failure {
  const result = template.parameters?.safeParse(parameters) ?? { success: true, data: parameters };
  if (!result.success) {
    const hide = hideSecrets(parameters, template.secrets);
    return invalid(`${template.name}: ${describeIssues(result.error.issues, hide)}`);
  }
  if (isObject(result.data)) {
    const path = pathOfRawHtml(parameters, []);
    if (path === null) return { props: result.data };
    return invalid(
      `${template.name}: ${path}: no parameter may have this name, which makes HTML of its value`,
    );
  }
  return template.parameters
    ? failed(`${template.shown}: the schema \`parameters\` must give an object of props`)
    : invalid(`${template.name}: parameters: must be an object`);
}

/**
 * Path of a parameter that React would take for raw HTML, where a template gives an element whatever it was given
 * (`<Text {...props.note}>`).
 */
function pathOfRawHtml(value: unknown, path: readonly string[]): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const here = [...path, name];
    const found = name === "dangerouslySetInnerHTML" ? here.join(".") : pathOfRawHtml(inner, here);
    if (found !== null) return found;
  }
  return null;
}

async function renderParts(template: Template, props: Props): Promise<Rendered> {
  const subject = await evaluate(template.subject, props);
  if (typeof subject !== "string") return failed(`${template.shown}: \`subject\` must give a string`);
  const line = subject.replace(/[\x00-\x1f\x7f\u2028\u2029]+/g, " ").trim();
  if (line === "") return failed(`${template.shown}: \`subject\` must not be empty`);

  const html = await renderHtml(template.component, props);
  if (html.replace(/<!.*?>/gs, "").trim() === "") {
    return failed(`${template.shown}: the component must return elements; it returned nothing`);
  }
  if (DANGEROUS.test(html)) {
    return failed(
      `${template.shown}: a link has a scheme that runs or reads something; use https: or mailto:`,
    );
  }
  const text = template.text === null ? toPlainText(html) : await evaluate(template.text, props);
  if (typeof text !== "string") return failed(`${template.shown}: \`text\` must give a string`);
  // Unlike HTML, plain text is not escaped on its way to a terminal.
  return { ok: true, subject: line, html, text: text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "") };
}

/** React itself stops javascript:. Readers' programs ignore space before a scheme, and tabs and line ends within it. */
const DANGEROUS = new RegExp(`\\s(?:href|src|action|background)="[\\x00-\\x20]*(?:${schemes()})`, "i");

function schemes(): string {
  return ["javascript:", "vbscript:", "file:", "blob:", "data:(?!image/)"]
    .map((scheme) => scheme.replaceAll(/(?<=^\w*)\w/g, "$&[\\t\\n\\r]*"))
    .join("|");
}

function evaluate(part: string | ((props: Props) => unknown), props: Props): unknown {
  return typeof part === "function" ? part(props) : part;
}

type Failure = Extract<Rendered, { ok: false }>;

function failed(message: string): Failure {
  return { ok: false, code: "render_failed", message };
}

function invalid(message: string): Failure {
  return { ok: false, code: "parameters_invalid", message };
}

function isObject(value: unknown): value is Props {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
