import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { toPlainText as librarysText, render } from "@react-email/render";
import fc from "fast-check";
import { createElement, type ReactNode, Suspense } from "react";
import { renderHtml, withoutMarks } from "../../src/templates/html.ts";
import { loadTemplates } from "../../src/templates/load.ts";
import { toPlainText } from "../../src/templates/plain-text.ts";
import { trees } from "./trees.ts";

/**
 * Renders a component three times by our way, which then has taken each of its turns, and by React Email's own, and
 * holds HTML (without React's comments) and text against each other.
 */
async function assertEqual(component: (props: object) => ReactNode, props: object = {}): Promise<string> {
  const expected = await render(createElement(component as () => ReactNode, props)).catch(String);
  for (const turn of [1, 2, 3]) {
    const html = await renderHtml(component as never, props as never).catch(String);
    assert.equal(html, withoutMarks(expected), `turn ${turn}`);
    assert.equal(toPlainText(html), librarysText(expected.replaceAll("\0", "")), `text of turn ${turn}`);
  }
  return withoutMarks(expected);
}

test("every template gives what React Email's own renderer gives", async () => {
  const catalog = await loadTemplates(join(import.meta.dirname, "../../emails"));
  for (const { component, parameters, samples, locales } of catalog.list()) {
    for (const sample of samples.values()) {
      for (const locale of [null, ...locales]) {
        const result = parameters?.safeParse(sample);
        const props = result?.success ? (result.data as object) : sample;
        await assertEqual(component as never, { ...props, locale });
      }
    }
  }
});

test("so does every tree that a template may be made of", { timeout: 120_000 }, async () => {
  const property = fc.asyncProperty(trees(), async (tree) => {
    await assertEqual(() => tree);
  });
  const { errorInstance, seed, counterexamplePath } = await fc.check(property, { numRuns: 300 });
  // A tree of elements is unreadable; what it renders to, which the error shows, is not.
  if (errorInstance) assert.fail(`seed ${seed}, path ${counterexamplePath}: ${errorInstance}`);
});

const Late = async () => createElement("b", null, "late");
function Bad(): ReactNode {
  throw new Error("bad");
}
const KINDS: Readonly<Record<string, () => ReactNode>> = {
  plain: () => createElement("p", null, "plain"),
  late: () => createElement(Late as never),
  lateInside: () => createElement(Suspense, { fallback: "fallback" }, createElement(Late as never)),
  badInside: () => createElement(Suspense, { fallback: "fallback" }, createElement(Bad)),
  // The synchronous renderer would lose the style.
  head: () =>
    createElement(
      Suspense,
      null,
      createElement("html", null, createElement("head", null, createElement("style", null, ".a{}"))),
    ),
};
let rendered = 0;
function OfKind({ kind }: { kind?: string }): ReactNode {
  rendered += 1;
  return KINDS[kind ?? ""]?.();
}

test("a component that has agreed once may still wait, throw, or set a boundary in a later mail", async () => {
  await assertEqual(OfKind, { kind: "plain" });
  for (const kind of Object.keys(KINDS)) {
    const html = await assertEqual(OfKind, { kind });
    assert.ok(!html.includes("fallback"));
    if (kind === "head") assert.match(html, /<style>/);
  }
});

test("after the two renderers have agreed, one mail is rendered once, without waiting for anything", async () => {
  rendered = 0;
  const promise = renderHtml(OfKind as never, { kind: "plain" });
  assert.equal(rendered, 1, "it was rendered before anything was waited for");
  await promise;
  assert.equal(rendered, 1);
});
