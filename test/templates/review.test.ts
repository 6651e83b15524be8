import assert from "node:assert/strict";
import { test } from "node:test";
import { reviewMail, reviewTemplate } from "../../src/templates/review.ts";
import { draw, folderOf, load, messageOf, source } from "./folder.ts";

const GOOD = {
  subject: "Order 1",
  html: '<html lang="en"><body><p>Hello</p><a href="https://shop.example/?a=1&amp;b=2">Look</a></body></html>',
  text: "Hello",
};
const remarks = (change: Partial<typeof GOOD>) =>
  reviewMail({ ...GOOD, ...change }).map(({ level, detail }) => `${level}: ${detail}`);
const body = (inner: string) => ({ html: `<html lang="en"><body>${inner}</body></html>` });

test("a mail in order gets no remark", () => {
  assert.deepEqual(remarks({}), []);
  assert.deepEqual(
    remarks(body('<img src="cid:logo" alt=""/><a href="mailto:a@shop.example">Write</a>')),
    [],
  );
  // Words of code in attributes and styles are seen by nobody.
  assert.deepEqual(remarks(body('<style>.undefined{}</style><p class="NaN">x</p>')), []);
});

const FAULTS: [fault: string, change: Partial<typeof GOOD>, expected: RegExp][] = [
  ["undefined in the subject", { subject: "Hello undefined" }, /^error: the subject says "Hello undefined"/],
  ["an object in the text", { text: "Total [object Object]" }, /^error: the text part says/],
  ["NaN in the HTML", body("<p>NaN €</p>"), /^error: the HTML says "NaN €"/],
  ["an invalid date", { text: "on Invalid Date" }, /^error: the text part says/],
  ["an empty text", { text: " \n" }, /^error: the text part is empty/],
  ["an image without alt", body('<img src="https://shop.example/x.png"/>'), /^error: an image has no alt/],
  ["an image of the sender's disk", body('<img src="/static/x.png" alt=""/>'), /^error: an image comes from/],
  [
    "an image within the HTML",
    body('<img src="data:image/png;base64,AA==" alt=""/>'),
    /^warning: an image is written into the HTML/,
  ],
  [
    "a link without encryption",
    body('<a href="http://shop.example/">x</a>'),
    /^error: a link leads to "http:/,
  ],
  ["a relative link", body('<a style="x" href="/orders/1">x</a>'), /^error: a link leads to "\/orders\/1"/],
  ["an empty link", body('<a href="">x</a>'), /^error: a link leads to ""/],
  ["a mail that is clipped", body("x".repeat(105_000)), /^warning: the HTML has 103 KB/],
  ["no language", { html: "<html><body>x</body></html>" }, /^warning: the HTML names no language/],
];
for (const [fault, change, expected] of FAULTS) {
  test(`${fault} is remarked, once`, () => {
    const found = remarks(change);
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0] ?? "", expected);
  });
}

test("what the text part says is not said again of the HTML, and a preheader's padding is not repeated", () => {
  const padding = "\u00a0\u200c\u200b\u200d\u200e\u200f\ufeff".repeat(20);
  const html = body(`<div style="display:none">Total NaN<div>${padding}</div></div><p>Hello</p>`);
  assert.deepEqual(remarks(html), ['error: the HTML says "Total NaN Hello"']);
  assert.deepEqual(remarks({ ...html, text: "It costs NaN EUR" }), [
    'error: the text part says "It costs NaN EUR"',
  ]);
  assert.deepEqual(remarks(body("<p>Total NaN نمی\u200cشود</p>")), [
    'error: the HTML says "Total NaN نمی\u200cشود"',
  ]);
});

test("the same mistake is told by the same name in samples that read differently", () => {
  const mistakes = ["Order NaN of Ada", "Order NaN of Grace"].map((subject) =>
    reviewMail({ ...GOOD, subject }).map(({ mistake }) => mistake),
  );
  assert.deepEqual(mistakes, [["NaN in the subject"], ["NaN in the subject"]]);
});

test("an unknown language, raw HTML, misspelt exports and a template without samples are remarked without rendering", async (t) => {
  const folder = await folderOf(t, {
    "_parts/rich.tsx": `export const Rich = ({ html }) => (
      // raw-html: sanitised by the caller
      <div dangerouslySetInnerHTML={{ __html: html }} />
    );`,
    "mail.tsx": `import { z } from "zod";
      import { Markdown as Letter } from "@react-email/components";
      import { Rich } from "./_parts/rich";
      export const parameters = z.object({ html: z.string() });
      export const locales = ["en", "xx"];
      export const Secret = [];
      export const previewprops = {}, shipping = {};
      export const subject = "x";
      export default ({ html }) => <div><Rich html="" /><p dangerouslySetInnerHTML={{ __html: html }} /></div>;`,
  });
  const found = reviewTemplate((await folder.load()).get("mail")!);
  assert.deepEqual(
    found.map(({ level, detail }) => `${level}: ${detail}`),
    [
      "error: raw HTML at emails/mail.tsx:2",
      "error: raw HTML at emails/mail.tsx:9",
      "warning: the export `Secret` means nothing; is it `secrets`?",
      "warning: the export `previewprops` means nothing; is it `PreviewProps`?",
      'error: `locales` names "xx", which is not known',
      "warning: it has no PreviewProps to be rendered with",
    ],
  );
});

test("a sample may be exported under a name of its own, too", async (t) => {
  const template = await load(
    t,
    source("return <p>x</p>;", "export const previewProps = {};\nMail.PreviewProps = previewProps;"),
  );
  assert.deepEqual(reviewTemplate(template), []);
});

test("links that run or read something are not sent, whatever the schema lets through", async (t) => {
  const template = await load(t, source("return <a href={props.url}>x</a>;"));
  for (const url of [
    "javascript:alert(1)",
    " JavaScript:x",
    "data:text/html,x",
    "file:///etc/passwd",
    "vbscript:x",
    "java\nscript:x",
    "da\tta:text/html,x",
    "\u0001data:text/html,x",
    "file\r:///etc/passwd",
  ]) {
    assert.match(messageOf(await draw(template, { url }), "render_failed"), /a link has a scheme/, url);
  }
  assert.equal((await draw(template, { url: "data:image/png;base64,AA" })).ok, true);
  assert.equal((await draw(template, { url: "https://shop.example/?javascript:" })).ok, true);
});

test("no parameter becomes raw HTML, where a template passes on all that it is given", async (t) => {
  const template = await load(t, source("return <p {...props.note}>{JSON.stringify(props)}</p>;"));
  for (const parameters of [
    { note: { dangerouslySetInnerHTML: { __html: "<script>x</script>" } } },
    { lines: [{}, { deep: { dangerouslySetInnerHTML: null } }] },
  ]) {
    const message = messageOf(await draw(template, parameters), "parameters_invalid");
    assert.match(
      message,
      /^mail: (note|lines\.1\.deep)\.dangerouslySetInnerHTML: no parameter may have this name/,
    );
  }
  assert.equal((await draw(template, { note: { title: "dangerouslySetInnerHTML" } })).ok, true);
});
