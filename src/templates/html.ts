import { render } from "@react-email/render";
import { type ComponentType, createElement, type ReactElement } from "react";
import { renderToString } from "react-dom/server";
import type { Props } from "./template.ts";

/**
 * Renders a component into the HTML of a mail: what `render` of React Email gives, `withoutMarks`.
 *
 * Three quarters of the time of `render` go into streams and promises that only trees need which wait for something.
 * React's synchronous renderer gives the same octets for all others. So each component is rendered by both until they
 * have agreed once, and then by the synchronous one alone. A tree that waits somewhere, throws, or has a Suspense boundary
 * is noticed, and `render` has the word again: for that mail, and for all mails of a component for which the two differ.
 *
 * Rejects with whatever the component throws.
 */
export async function renderHtml(component: ComponentType<Props>, props: Props): Promise<string> {
  const element = createElement(component, props);
  const way = ways.get(component) ?? { agreed: false, trials: 0 };
  ways.set(component, way);
  const quick = way.agreed ? renderNow(element) : null;
  if (quick !== null) return quick;

  const html = withoutMarks(await render(element));
  // After `render`, not before: what waits only the first time (Tailwind compiles its configuration) is there now.
  if (!way.agreed && way.trials < TRIALS) {
    way.trials += 1;
    const now = renderNow(element);
    if (now === html) way.agreed = true;
    // A component that gives something else each time can never be held against itself.
    else if (now !== null) way.trials = TRIALS;
  }
  return html;
}

/** How often the two renderers are held against each other while a component's tree waits for something. */
const TRIALS = 3;

interface Way {
  /** Both renderers have given the same. */
  agreed: boolean;
  trials: number;
}

/** By component: a template that was changed and read again has another one. */
const ways = new WeakMap<ComponentType<Props>, Way>();

/** The same by React's synchronous renderer; null when the tree waits for something, or throws. */
function renderNow(element: ReactElement): string | null {
  let html: string;
  try {
    html = renderToString(element);
  } catch {
    return null;
  }
  // The mark of a Suspense boundary. The synchronous renderer puts the fallback there when something below it waits or
  // throws, and it loses what stands in a <head> below it. Raw HTML may hold the mark, too: then `render` does no harm.
  if (html.includes("<!--$")) return null;
  // `render` sends it through UTF-8, which has no halves of surrogate pairs.
  return (
    DOCTYPE +
    withoutPreloads(html.toWellFormed())
      .replace(/<!DOCTYPE.*?>/, "")
      .replaceAll("\0", "")
  );
}

/** What `render` puts in front; mail clients know no newer one. */
const DOCTYPE =
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';

/**
 * Takes out the comments that `render` has around a document and at the beginning of its parts, for a browser that is
 * to take the page over: it always renders below a Suspense boundary. NUL is no character of HTML.
 */
export function withoutMarks(html: string): string {
  let bare = html.replaceAll("\0", "");
  for (const mark of ["<!--$-->", "<!--html-->", "<!--head-->", "<!--body-->"]) bare = bare.replace(mark, "");
  const end = bare.lastIndexOf(CLOSING);
  return end < 0 ? bare : bare.slice(0, end) + bare.slice(end + CLOSING.length);
}

const CLOSING = "<!--/$-->";

/** React tells browsers to load images ahead. In a mail that is dead weight, and `render` takes it out as well. */
function withoutPreloads(html: string): string {
  if (!html.includes("<link")) return html;
  return html.replace(/<link\b[^>]*>/gi, (tag) =>
    /\brel="preload"/i.test(tag) && /\bas="image"/i.test(tag) ? "" : tag,
  );
}
