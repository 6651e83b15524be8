import sanitizeHtml from "sanitize-html";
import { color, font } from "./theme.ts";

/**
 * HTML that somebody wrote in an editor. Only the elements listed below are shown, in the mail's own style: of others
 * the text stays, of scripts and styles nothing does. There are no images: who writes the HTML would learn who reads it.
 */
export function RichText({ html }: { readonly html: string }) {
  const clean = sanitizeHtml(html, RULES);
  return (
    // biome-ignore lint/security/noDangerouslySetInnerHtml: raw-html: sanitised by sanitize-html
    <div className="ink" dangerouslySetInnerHTML={{ __html: clean }} dir="auto" style={styles.text} />
  );
}

const styles = { text: { color: color.ink, fontSize: "16px", lineHeight: "26px" } } as const;

const title = (size: string) =>
  `font-family: ${font.title}; font-size: ${size}; font-weight: 400; line-height: 28px; margin: 28px 0 12px`;
const list = "margin: 0 0 20px; padding: 0 24px";
const tint = `background-color: ${color.tint}`;

/** What each element becomes. The mail's title is its only h1. */
const SHOWN = new Map<string, readonly [tag: string, style?: string, className?: string]>([
  ["p", ["p", "margin: 0 0 16px"]],
  ["div", ["div"]],
  ["br", ["br"]],
  ["h1", ["h2", title("22px")]],
  ["h2", ["h3", title("19px")]],
  ["h3", ["h4", "font-size: 16px; font-weight: 600; margin: 20px 0 4px"]],
  ["ul", ["ul", list]],
  ["ol", ["ol", list]],
  ["li", ["li", "margin: 0 0 6px"]],
  ["blockquote", ["blockquote", `${tint}; margin: 0 0 20px; padding: 16px 20px 4px`, "tint"]],
  ["code", ["code", `${tint}; font-family: ${font.code}; font-size: 14px`, "tint"]],
  ["strong", ["strong"]],
  ["b", ["strong"]],
  ["em", ["em"]],
  ["i", ["em"]],
  ["a", ["a", `color: ${color.accent}`, "link"]],
]);

/** Of these nothing is shown, nor of what stands in them. */
const HIDDEN = "head iframe math noscript object option script style svg template textarea title xmp".split(
  " ",
);

const RULES: sanitizeHtml.IOptions = {
  allowedTags: [...SHOWN.values()].map(([tag]) => tag),
  allowedAttributes: { "*": ["class", "style"], a: ["href", "rel"] },
  nonTextTags: HIDDEN,
  // Deeper ones would not fit on a screen, and reading them back could exhaust the stack.
  nestingLimit: 20,
  // Styles are ours alone, see `show`: there is nothing to look for in them.
  parseStyleAttributes: false,
  transformTags: { "*": show },
};

/** Drops an element's attributes for ours. A link that leads nowhere a reader should go is mere text. */
function show(name: string, { href = "" }: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const [tagName, style, className] = SHOWN.get(name) ?? [name];
  // Its name stays: an element that is both renamed and dropped confuses the sanitiser about what it has to close.
  if (name === "a" && !/^(https:\/\/|mailto:)./i.test(href)) return { tagName, attribs: {} };
  const attribs: sanitizeHtml.Attributes = name === "a" ? { href, rel: "noopener noreferrer" } : {};
  if (className) attribs.class = className;
  if (style) attribs.style = style;
  return { tagName, attribs };
}
