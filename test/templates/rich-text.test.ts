import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { loadTemplates } from "../../src/templates/load.ts";
import { reviewMail, reviewTemplate } from "../../src/templates/review.ts";
import { draw } from "./folder.ts";

const catalog = await loadTemplates(join(import.meta.dirname, "../../emails"));
const reply = catalog.get("support-reply")!;

/** What a mail with this HTML as its parameter says where it stands, and its text part. */
async function show(html: string): Promise<{ html: string; text: string }> {
  const mail = await drawWith(html);
  const [before = "", after = ""] = (await drawWith("MARK")).html.split("MARK");
  assert.ok(mail.html.startsWith(before) && mail.html.endsWith(after), "the frame stays as it is");
  return { html: mail.html.slice(before.length, -after.length), text: mail.text };
}

async function drawWith(answer_html: string) {
  const rendered = await draw(reply, { ticket: 1, topic: "A", agent_name: "B", answer_html });
  assert.ok(rendered.ok, JSON.stringify(rendered));
  return rendered;
}

const TAGS = "p|div|br|h2|h3|h4|ul|ol|li|blockquote|code|strong|em|a";
const ATTRIBUTES =
  / (?:class="(?:tint|link)"|style="[-\w:;,.#' ]+"|href="(?:https:\/\/|mailto:)[^"<>]+"|rel="noopener noreferrer")/;
const TOKEN = new RegExp(
  `<(?<open>${TAGS})(?:${ATTRIBUTES.source})*(?<empty> /)?>|</(?<close>${TAGS})>|[^<>]+`,
  "gy",
);

/** Nothing but the listed elements, with the mail's own attributes, each closed where it was opened, and text. */
function assertHarmless(html: string): void {
  const opened: string[] = [];
  let end = 0;
  for (const { 0: token, groups } of html.matchAll(TOKEN)) {
    end += token.length;
    if (groups?.open && !groups.empty) opened.push(groups.open);
    if (groups?.close) assert.equal(groups.close, opened.pop(), html);
    for (const [, style = ""] of token.matchAll(/style="([^"]*)"/g))
      assert.doesNotMatch(style, /url|expression|EVIL/);
  }
  assert.equal(html.slice(end), "", `in ${html}`);
  assert.deepEqual(opened, [], html);
}

/** EVIL stands where it would run, load or be obeyed: it may be nowhere in the mail. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  scripts: [
    "<script>EVIL</script>",
    "<SCRIPT SRC=https://EVIL/x.js></SCRIPT>",
    "<scr<script src=EVIL>a</script>",
    "<script >EVIL</script\t\n bar>",
    "<script/EVIL>EVIL</script>",
    "<script>EVIL",
    '<noscript><p title="</noscript><img src=x onerror=EVIL>">',
  ],
  "handlers of events": [
    "<img src=x onerror=EVIL>",
    "<p onclick='EVIL'>a</p>",
    "<p/onmouseover=EVIL>a</p>",
    "<a href=https://shop.example/ onfocus=EVIL autofocus>a</a>",
    "<body onload=EVIL>",
    "<details open ontoggle=EVIL>a</details>",
    '<p title="a"onclick="EVIL">a</p>',
    "<p \u0000onclick=EVIL>a</p>",
  ],
  "schemes that run or read something": [
    "<a href='javascript:EVIL'>a</a>",
    "<a href='JaVaScRiPt:EVIL'>a</a>",
    "<a href=' \u0001javascript:EVIL'>a</a>",
    "<a href='java\tscript:EVIL'>a</a>",
    "<a href='java\nscript:EVIL'>a</a>",
    "<a href='java&#x0A;script&colon;EVIL'>a</a>",
    "<a href='&#106;avascript&#58;EVIL'>a</a>",
    "<a href='&#0000106avascript:EVIL'>a</a>",
    "<a href='vbscript:EVIL'>a</a>",
    "<a href='data:text/html,EVIL'>a</a>",
    "<a href='data:text/html;base64,EVIL'>a</a>",
    "<a href='file:///EVIL'>a</a>",
    "<a href='//EVIL/'>a</a>",
    "<a href='http://EVIL/'>a</a>",
    "<a href='/EVIL'>a</a>",
    "<form action='javascript:EVIL'><input type=submit formaction='javascript:EVIL'></form>",
    "<iframe src='javascript:EVIL'></iframe>",
    "<iframe srcdoc='EVIL'>EVIL</iframe>",
    "<object data='data:text/html,EVIL'>EVIL</object>",
    "<embed src='https://EVIL/'>",
    "<base href='https://EVIL/'>",
    "<meta http-equiv=refresh content='0;url=https://EVIL/'>",
    "<link rel=stylesheet href='https://EVIL/x.css'>",
  ],
  "pictures and what else is fetched": [
    "<img src='https://EVIL/pixel.gif'>",
    "<img srcset='https://EVIL/ 1x'>",
    "<video poster='https://EVIL/'><source src='https://EVIL/'></video>",
    "<table background='https://EVIL/'><tr><td>a</td></tr></table>",
  ],
  styles: [
    "<p style='background:url(https://EVIL/)'>a</p>",
    "<p style='width:expression(EVIL)'>a</p>",
    "<p style='-moz-binding:url(EVIL)'>a</p>",
    "<p style='position:fixed;inset:0;EVIL:0'>a</p>",
    "<style>@import 'https://EVIL/';</style>",
    "<style>p{background:url(EVIL)}",
    "<p class='EVIL button' id=EVIL>a</p>",
  ],
  "other languages within HTML": [
    "<svg onload=EVIL>",
    "<svg><script>EVIL</script></svg>",
    "<svg><a xlink:href='javascript:EVIL'><text>EVIL</text></a></svg>",
    "<svg><animate attributeName=href values='javascript:EVIL'/></svg>",
    "<math><maction actiontype='statusline#https://EVIL'>EVIL</maction></math>",
    "<template><script>EVIL</script></template>",
  ],
  "HTML that changes when it is read again": [
    '<svg></p><style><a id="</style><img src=1 onerror=EVIL>">',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=EVIL&gt;">',
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=EVIL>",
    "<textarea><!--</textarea><img src=x onerror=EVIL>-->",
    '<xmp><p title="</xmp><img src=x onerror=EVIL>"></xmp>',
    '<title><a title="</title><img src=x onerror=EVIL>"></title>',
  ],
  comments: [
    "<!-- EVIL -->",
    "<!--[if mso]>EVIL<![endif]-->",
    "<!--[if gte mso 9]><xml>EVIL</xml><![endif]-->",
    "<!--><img src=x onerror=EVIL>-->",
    "<!--EVIL",
    "<?xml EVIL?>",
    "<!doctype EVIL>",
    "<![CDATA[ EVIL ]]>",
  ],
  "tags without an end": [
    "<p><a href='https://shop.example/'><strong>a",
    "<img src=x onerror=EVIL",
    "<a href='javascript:EVIL",
    "<p title='EVIL",
    "</div></td></tr></table></body></html>a",
    "<<<p onclick=EVIL>a</p>",
  ],
  "names of what every object has": ["<constructor onclick=EVIL>a", "<p><__proto__>a", "<tostring>a"],
};

for (const [what, vectors] of Object.entries(ATTACKS)) {
  test(`${what} in an editor's HTML do not reach the mail`, async () => {
    for (const vector of vectors) {
      for (const html of [vector, `<p>before</p>${vector}`, `<ul><li>${vector}</ul><p>after</p>`]) {
        const shown = await show(html);
        assertHarmless(shown.html);
        assert.doesNotMatch(shown.html, /EVIL/i, html);
        assert.doesNotMatch(shown.text, /EVIL/i, html);
      }
    }
  });
}

test("whatever stands next to whatever, only the listed elements are shown", async () => {
  const pieces = fc.constantFrom(
    ...Object.values(ATTACKS).flat(),
    ...[
      "<",
      ">",
      '"',
      "'",
      "&",
      "&lt;",
      "&#60;",
      "<p",
      "</",
      "<!--",
      "-->",
      "=",
      "/>",
      "<a href=",
      "https://a.example",
      "\u2028",
    ],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 8 }), async (parts) => {
      assertHarmless((await show(parts.join(""))).html);
    }),
    { numRuns: 500 },
  );
});

test("what an editor is for survives, in the mail's own style", async () => {
  const { html, text } = await show(
    `<h1>One</h1><h2>Two</h2><h3>Three</h3><p class="x" style="color:red">A <b>b</b> <strong>c</strong> <i>d</i> <em>e</em><br>f &amp; g &lt;h&gt;</p>
     <ul><li>i</li></ul><ol><li>j</li></ol><blockquote>k</blockquote><code>l</code> <u>m</u>
     <a href="https://shop.example/?a=1&amp;b=2" target="_top">n</a> <a href="mailto:o@shop.example">o</a>`,
  );
  assertHarmless(html);
  const bare = html.replace(/ (?:style|class)="[^"]*"/g, "").replace(/\s+/g, " ");
  assert.equal(
    bare,
    "<h2>One</h2><h3>Two</h3><h4>Three</h4><p>A <strong>b</strong> <strong>c</strong> <em>d</em> <em>e</em><br />f &amp; g &lt;h&gt;</p> " +
      "<ul><li>i</li></ul><ol><li>j</li></ol><blockquote>k</blockquote><code>l</code> m " +
      '<a href="https://shop.example/?a=1&amp;b=2" rel="noopener noreferrer">n</a> <a href="mailto:o@shop.example" rel="noopener noreferrer">o</a>',
  );
  assert.doesNotMatch(html, /color:red|_top|class="x"/);
  for (const part of [
    "ONE",
    "f & g <h>",
    " * i",
    " 1. j",
    "> k",
    "n https://shop.example/?a=1&b=2",
    "o o@shop.example",
  ]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
});

test("the largest parameter, nested as deep as it goes, is a mail", async () => {
  const { html } = await show("<blockquote>".repeat(5000));
  assertHarmless(html);
  assertHarmless((await show("<b><i>".repeat(10_000))).html);
});

test("check has nothing to say against it", async () => {
  assert.deepEqual(reviewTemplate(reply), []);
  for (const sample of reply.samples.values()) {
    const rendered = await draw(reply, sample);
    assert.ok(rendered.ok);
    assert.deepEqual(reviewMail(rendered), []);
  }
});
