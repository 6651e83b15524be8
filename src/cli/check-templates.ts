import type { PosthasteConfig } from "../config.ts";
import { createIsolation, type Isolation, type RenderedApart } from "../templates/isolation.ts";
import { loadTemplates, type Template } from "../templates/load.ts";
import { type Remark, reviewMail, reviewTemplate } from "../templates/review.ts";
import { asFinding, doubtful, type Finding, fine, wrong } from "./check-findings.ts";

/** Compiles every template, renders each with all its samples in all its locales, and looks at what comes out. */
export async function checkTemplates(config: PosthasteConfig): Promise<readonly Finding[]> {
  const loaded = await loadTemplates(config.emails, { trial: true }).catch(asFinding("templates"));
  if ("ok" in loaded) return [loaded];
  const templates = loaded.list();
  await loaded.close();
  if (templates.length === 0) {
    return [wrong("templates", `${config.emails} holds no templates.`, "Add a .tsx file that exports one.")];
  }
  // Each for itself in another process: one that never ends is stopped there, and does not eat the time of the others.
  const isolation = createIsolation();
  const timeout = config.timeouts.render;
  const findings = templates.map((template) => checkTemplate(template, isolation, timeout));
  return (await Promise.all(findings)).flat();
}

async function checkTemplate(template: Template, isolation: Isolation, timeout: number): Promise<Finding[]> {
  const subject = `template ${template.name}`;
  if (template.broken !== null) return [wrong(subject, template.broken)];
  const findings = reviewTemplate(template).map((remark) =>
    asFindingOf(subject, template.shown, { ...remark, detail: `${remark.detail}.` }),
  );
  const rendered: string[] = [];
  const noted = new Map<string, Noted>();
  const mails = [...variants(template)].map(async (variant) => ({
    ...variant,
    mail: await isolation.render(template, { ...variant, parameters: {}, timeout }),
  }));
  for (const { sample, locale, mail } of await Promise.all(mails)) {
    const place = [`sample ${sample}`, ...(locale === null ? [] : [locale])].join(", ");
    if (mail === null) continue;
    if (mail.ok) {
      rendered.push(mail.subject);
      for (const remark of reviewMail(mail)) note(noted, place, { ...remark, detail: `${remark.detail}.` });
    } else {
      const hint = hintFor(mail.code, sample);
      note(noted, place, { level: "error", detail: mail.message, hint, mistake: mail.message });
    }
  }
  for (const { remark, place, more } of noted.values()) {
    const also = more === 0 ? "" : `; and ${more} more`;
    findings.push(asFindingOf(subject, `${template.shown} (${place}${also})`, remark));
  }
  if (rendered.length > 0 && findings.every(({ ok }) => ok)) {
    const others = rendered.length - 1;
    const more = others > 0 ? `, and in ${others} other ${others === 1 ? "way" : "ways"}` : "";
    findings.unshift(fine(subject, `renders as ${JSON.stringify(rendered[0])}${more}.`));
  }
  return findings;
}

/** What is wrong, the sample and locale where it was seen first, and in how many others it was. */
interface Noted {
  readonly remark: Noticed;
  readonly place: string;
  more: number;
}

type Noticed = Omit<Remark, "hint"> & { readonly hint: string | null };

function note(noted: Map<string, Noted>, place: string, remark: Noticed): void {
  const known = noted.get(remark.mistake);
  if (known) known.more += 1;
  else noted.set(remark.mistake, { remark, place, more: 0 });
}

/** What the registry says is for mail that has failed; here none has. */
function hintFor(code: Extract<RenderedApart, { ok: false }>["code"], sample: string): string | null {
  if (code === "render_failed" || code === "worker_crashed") return null;
  if (code === "render_timeout") return "Look for a loop or for work that does not end in the template.";
  return `Mend its ${sample === "default" ? "PreviewProps" : `sample ${JSON.stringify(sample)}`}.`;
}

/** Every sample in every locale; nothing at all when a template has no samples and cannot do without. */
function* variants({ samples, locales, required }: Template) {
  const all = samples.size > 0 || required.length > 0 ? samples : new Map([["default", {}]]);
  for (const sample of all.keys()) {
    for (const locale of locales.length > 0 ? locales : [null]) yield { sample, locale };
  }
}

function asFindingOf(subject: string, place: string, { level, detail, hint }: Noticed): Finding {
  return (level === "error" ? wrong : doubtful)(subject, `${place}: ${detail}`, hint);
}
