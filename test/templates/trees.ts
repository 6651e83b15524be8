import * as components from "@react-email/components";
import fc from "fast-check";
import { createElement, Fragment, type ReactNode, Suspense, useId } from "react";

/**
 * Trees of React Email's components, plain elements, and whatever else a template may hold. Nothing waits below
 * Tailwind: it makes React Email's own renderer spin for ever.
 */
export function trees(): fc.Arbitrary<ReactNode> {
  return fc.oneof(
    treesOf(leaf).map((tree) => inDocument(tree, components.Tailwind)),
    treesOf(fc.oneof({ weight: 9, arbitrary: leaf }, { weight: 1, arbitrary: waiting })).map((tree) =>
      inDocument(tree, Fragment),
    ),
    treesOf(leaf),
  );
}

function treesOf(leaves: fc.Arbitrary<ReactNode>): fc.Arbitrary<ReactNode> {
  return fc.letrec<{ tree: ReactNode; children: ReactNode }>((tie) => ({
    tree: fc.oneof({ maxDepth: 5, withCrossShrink: true }, leaves, {
      weight: 2,
      arbitrary: element(tie("children")),
    }),
    children: fc
      .array(tie("tree"), { minLength: 1, maxLength: 4 })
      .map((list) => createElement(Fragment, null, ...list)),
  })).tree;
}

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    " ",
    "\n",
    " a ",
    "a  b",
    "<b>&amp;",
    "<!-- -->",
    "<!--$-->",
    "\0",
    "\ud83d",
    "\ude00",
    "\u00a0",
    "\"'",
  ),
);
const url = fc.constantFrom("https://shop.example/?a=1&b=2", "mailto:a@shop.example", "#top", "");
const classes = fc.constantFrom("p-4 text-red-500", "mt-2 font-bold", "");

const Identified = () => createElement("i", { id: useId() }, "id");
const Late = async () => {
  await null;
  return createElement("b", null, "late");
};
const Shop = createElement("a", { href: "https://shop.example" }, "https://shop.example");

const leaf: fc.Arbitrary<ReactNode> = fc.oneof(
  { weight: 6, arbitrary: text },
  fc.oneof(fc.integer(), fc.double(), fc.constantFrom(null, undefined, true, false, 0n)),
  fc.constantFrom(createElement(Identified), Shop, createElement("br"), createElement(components.Hr)),
  fc.record({ src: url, alt: text }).map((props) => createElement(components.Img, props)),
  text.map((title) => createElement("title", null, title)),
  url.map((href) => createElement("link", { rel: "preload", as: "image", href })),
  fc.constant(createElement("style", null, ".a > .b { color: red }")),
  text.map((preview) => createElement(components.Preview, null, preview)),
  fc
    .constantFrom("<b>raw</b>", "<!-- author -->", "<!--[if mso]><i>x</i><![endif]-->", "a<br>b")
    // biome-ignore lint/security/noDangerouslySetInnerHtml: templates may do it, and the renderers must agree on it
    .map((html) => createElement("div", { dangerouslySetInnerHTML: { __html: html } })),
  fc
    .constantFrom("**bold** [a](https://shop.example)", "# title")
    .map((markdown) => createElement(components.Markdown, null, markdown)),
);
const waiting = fc.constantFrom<ReactNode>(
  createElement(Late),
  createElement(Suspense, { fallback: "…" }, createElement(Late)),
  createElement(Suspense, { fallback: "…" }, "in time"),
);

function element(children: fc.Arbitrary<ReactNode>): fc.Arbitrary<ReactNode> {
  const plain = fc.constantFrom(
    "p",
    "div",
    "span",
    "strong",
    "pre",
    "ul",
    "li",
    "h2",
    "blockquote",
    "section",
  );
  const known = fc.constantFrom(
    components.Text,
    components.Section,
    components.Container,
    components.Heading,
    components.Row,
    components.Column,
  );
  const linked = fc.constantFrom("a", components.Link, components.Button);
  const style = fc.constantFrom(undefined, {
    padding: "4px 8px",
    color: "#333",
    fontFamily: "'Segoe UI', serif",
  });
  return fc.oneof(
    fc.tuple(plain, style, children).map(([type, style, child]) => createElement(type, { style }, child)),
    fc
      .tuple(known, classes, children)
      .map(([type, className, child]) => createElement(type as never, { className }, child)),
    fc
      .tuple(linked, url, children)
      .map(([type, href, child]) => createElement(type as never, { href }, child)),
    children.map((child) =>
      createElement(
        "table",
        null,
        createElement("tbody", null, createElement("tr", null, createElement("td", null, child))),
      ),
    ),
  );
}

function inDocument(tree: ReactNode, Frame: typeof Fragment | typeof components.Tailwind): ReactNode {
  const { Html, Head, Body, Font } = components;
  return createElement(
    Html,
    { lang: "de" },
    createElement(
      Frame as typeof Fragment,
      null,
      createElement(Head, null, createElement(Font, { fontFamily: "Inter", fallbackFontFamily: "serif" })),
      createElement(Body, null, tree),
    ),
  );
}
