import assert from "node:assert/strict";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadTemplates } from "../../src/templates/load.ts";
import { startPreview } from "../../src/templates/preview.ts";
import { previewPages } from "../../src/templates/preview-folder.ts";
import { startBrowser } from "./browser.ts";
import { draw } from "./folder.ts";

const EMAILS = join(import.meta.dirname, "../../emails");

const preview = await startPreview(EMAILS, await freePort());
after(() => preview.close());
const browser = await startBrowser();
after(() => browser.close());
const catalog = await loadTemplates(EMAILS);

/**
 * What of two mails must be equal: the tree that a browser makes of them, without comments. React leaves some for the
 * browser (`withoutMarks`), and the preview adds marks of its own that lead from an element to its source.
 */
const NORMALISE = `((html) => {
  const tree = new DOMParser().parseFromString(html, "text/html");
  const comments = tree.createTreeWalker(tree, NodeFilter.SHOW_COMMENT);
  const found = [];
  while (comments.nextNode()) found.push(comments.currentNode);
  for (const comment of found) comment.remove();
  for (const element of tree.querySelectorAll("*"))
    for (const name of element.getAttributeNames()) if (name.startsWith("data-source")) element.removeAttribute(name);
  tree.normalize();
  return tree.documentElement.outerHTML;
})`;

for (const template of catalog.list()) {
  const pages = [...previewPages(template)];
  const first = pages[0]?.[1];
  // Each sample in one language, and each language with one sample: a browser takes its time.
  for (const [name, { sample, locale }] of pages.filter(
    ([, page]) => page.sample === first?.sample || page.locale === first?.locale,
  )) {
    test(`the preview shows ${name} as the worker sends it`, { timeout: 90_000 }, async () => {
      const sent = await draw(template, template.samples.get(sample), locale);
      assert.ok(sent.ok, JSON.stringify(sent));
      const shown = await browser.open(
        `${preview.url}/preview/${name}`,
        `${NORMALISE}(document.querySelector("iframe[srcdoc]").srcdoc)`,
      );
      assert.equal(shown, await browser.evaluate(`${NORMALISE}(${JSON.stringify(sent.html)})`));
    });
  }
}

test("the preview offers every page in its list", { timeout: 60_000 }, async () => {
  const names = catalog.list().flatMap((template) => [...previewPages(template).keys()]);
  assert.ok(names.length >= 12);
  const links = await browser.open(
    `${preview.url}/preview/login-code`,
    `((links) => links.length > 0 && links)(Array.from(document.querySelectorAll('a[href*="/preview/"]'), (link) => decodeURI(new URL(link.href).pathname.slice(9))))`,
  );
  assert.deepEqual([...new Set(links as string[])].sort(), names.sort());
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await new Promise((listening) => server.once("listening", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
