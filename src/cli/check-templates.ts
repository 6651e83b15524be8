import type { PosthasteConfig } from "../config.ts";
import { ERROR_CODES } from "../errors.ts";
import { loadTemplates, type Template } from "../templates/load.ts";
import { renderTemplate } from "../templates/render.ts";
import { asFinding, type Finding, fine, wrong } from "./check-findings.ts";

/** Compiles every template and renders each with its `PreviewProps`. */
export async function checkTemplates(config: PosthasteConfig): Promise<readonly Finding[]> {
  const loaded = await loadTemplates(config.emails).catch(asFinding("templates"));
  if ("ok" in loaded) return [loaded];
  const templates = loaded.list();
  await loaded.close();
  if (templates.length === 0) {
    return [wrong("templates", `${config.emails} holds no templates.`, "Add a .tsx file that exports one.")];
  }
  const findings: Finding[] = [];
  // One by one: a template that takes long is not to eat the time limit of the others.
  for (const template of templates) findings.push(await checkTemplate(template, config.timeouts.render));
  return findings;
}

async function checkTemplate(template: Template, timeout: number): Promise<Finding> {
  const subject = `template ${template.name}`;
  if (template.broken !== null) return wrong(subject, template.broken);
  if (template.previewProps === null && template.required.length > 0) {
    return fine(subject, "loads; it has no PreviewProps to be rendered with.");
  }
  const rendered = await renderTemplate(template, template.previewProps ?? {}, { locale: null, timeout });
  if (rendered.ok) return fine(subject, `renders as ${JSON.stringify(rendered.subject)}.`);
  const hint =
    rendered.code === "parameters_invalid" ? "Mend its PreviewProps." : ERROR_CODES[rendered.code].hint;
  return wrong(subject, rendered.message, hint);
}
