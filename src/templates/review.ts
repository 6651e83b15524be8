import type { Template } from "./template.ts";

/** What a reader would stumble over in a rendered mail, or an author should know. */
export interface Remark {
  /** An error is a mistake in every mail like this one; a warning may be meant. */
  readonly level: "error" | "warning";
  readonly detail: string;
  readonly hint: string;
  /** The same for the same mistake: how it reads differs from sample to sample. */
  readonly mistake: string;
}

/** Gmail and others cut a message off behind this many octets of HTML. */
const CLIPPED = 102 * 1024;

/** Looks at a mail as its reader would. Says where and what, each thing once. */
export function reviewMail(mail: { subject: string; html: string; text: string }): Remark[] {
  const remarks: Remark[] = [];
  remarks.push(...slipsIn("subject", mail.subject));
  const inText = slipsIn("text part", mail.text);
  // The text part is made from the HTML: what both say is one mistake.
  remarks.push(...(inText.length > 0 ? inText : slipsIn("HTML", visibleText(mail.html))));
  if (mail.text.trim() === "") remarks.push(error("the text part is empty", HINTS.text));
  for (const [tag] of mail.html.matchAll(/<img\b[^>]*>/gi)) {
    if (!/\salt="/i.test(tag)) remarks.push(error(`an image has no alt: ${shorten(tag)}`, HINTS.alt));
    const source = attribute(tag, "src");
    if (!/^(https:|cid:|data:image\/)/i.test(source)) {
      remarks.push(error(`an image comes from ${JSON.stringify(shorten(source))}`, HINTS.image));
    }
    if (/^data:/i.test(source)) {
      remarks.push(warning(`an image is written into the HTML: ${shorten(source)}`, HINTS.data));
    }
  }
  for (const [tag] of mail.html.matchAll(/<a(?:rea)?\b[^>]*\shref=[^>]*>/gi)) {
    const href = attribute(tag, "href");
    if (!/^(https:\/\/|mailto:)./i.test(href)) {
      remarks.push(error(`a link leads to ${JSON.stringify(shorten(href))}`, HINTS.link));
    }
  }
  const size = Buffer.byteLength(mail.html);
  if (size > CLIPPED) {
    remarks.push(
      warning(`the HTML has ${Math.ceil(size / 1024)} KB; big clients clip at 102 KB`, HINTS.size),
    );
  }
  if (/<html\b(?![^>]*\slang="[^"]+")/i.test(mail.html)) {
    remarks.push(warning("the HTML names no language", HINTS.lang));
  }
  return [...new Map(remarks.map((remark) => [remark.detail, remark])).values()];
}

/** What can be said of a template without rendering it. */
export function reviewTemplate({ samples, locales, rawHtml, required, misspelt }: Template): Remark[] {
  const remarks: Remark[] = rawHtml.map((place) => error(`raw HTML at ${place}`, HINTS.raw));
  for (const [name, meant] of misspelt) {
    remarks.push(warning(`the export \`${name}\` means nothing; is it \`${meant}\`?`, HINTS.misspelt));
  }
  for (const locale of locales) {
    if (Intl.DateTimeFormat.supportedLocalesOf(locale).length === 0) {
      remarks.push(error(`\`locales\` names ${JSON.stringify(locale)}, which is not known`, HINTS.locale));
    }
  }
  if (samples.size === 0 && required.length > 0) {
    remarks.push(warning("it has no PreviewProps to be rendered with", HINTS.samples));
  }
  return remarks;
}

/** The first word that a program writes for what is not there. */
function slipsIn(part: string, text: string): Remark[] {
  const slip = /.{0,20}(\bundefined\b|\[object [A-Z]\w*\]|\bNaN\b|\bInvalid Date\b).{0,20}/.exec(text);
  if (!slip) return [];
  const detail = `the ${part} says ${JSON.stringify(slip[0].trim())}`;
  return [{ ...error(detail, HINTS.slip), mistake: `${slip[1]} in the ${part}` }];
}

const HINTS = {
  slip: "A parameter is missing or of another type than the template thinks: make it required in the schema, or leave the sentence out without it.",
  text: "Give the component words, or export `text`.",
  alt: 'Write alt="…" with what the picture says, or alt="" when it only decorates.',
  image: "Use an absolute https: URL, or cid: for an attachment.",
  data: "Gmail and Outlook do not show it: use an absolute https: URL, or cid: for an attachment.",
  link: "Use an absolute https: URL or mailto:; in a schema, z.url({ protocol: /^https$/ }).",
  size: "Shorten it, or link to the rest.",
  lang: 'Write <Html lang="…">, so that screen readers pronounce it.',
  raw: "Pass content as children, or sanitise it and say so in a comment on the line before: // raw-html: sanitised by …",
  locale: 'Use the language\'s BCP 47 tag, such as "de" or "pt-BR".',
  misspelt: "Rename it, or do not export it.",
  samples: "Add Component.PreviewProps = { … }.",
} as const;

function error(detail: string, hint: string): Remark {
  return { level: "error", detail, hint, mistake: detail };
}

function warning(detail: string, hint: string): Remark {
  return { level: "warning", detail, hint, mistake: detail };
}

/** Without head, tags, what is not shown, and the invisible characters that pad a preheader; entities stay. */
function visibleText(html: string): string {
  return html
    .replace(/<head\b.*?<\/head>/gis, " ")
    .replace(/<style\b.*?<\/style>/gis, " ")
    .replace(/<!--.*?-->/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/(?:\s|\p{Cf}|\u034f){2,}/gu, " ")
    .replace(/\s/g, " ");
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\s${name}="([^"]*)"`, "i").exec(tag)?.[1] ?? "";
  return value.replaceAll("&amp;", "&");
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
