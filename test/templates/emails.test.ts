import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadTemplates, type Template } from "../../src/templates/load.ts";
import { draw, messageOf } from "./folder.ts";

const EMAILS = join(import.meta.dirname, "../../emails");
const catalog = await loadTemplates(EMAILS);

function template(name: string): Template {
  const found = catalog.get(name);
  assert.ok(found, `emails/${name}.tsx exists`);
  return found;
}

const SUBJECTS = {
  "login-code": "Your sign-in code for Hollis & Reed",
  "order-confirmed": "Order HR-20418 is confirmed",
  "password-reset": "Choose a new password for Hollis & Reed",
  "report-alert": "Failed payments: 6.8%, above 5%",
  "support-reply": "Re: The nib of my pen scratches [S-7731]",
};

test("these are all templates", () => {
  assert.deepEqual(
    catalog.list().map(({ name }) => name),
    Object.keys(SUBJECTS),
  );
});

for (const [name, subject] of Object.entries(SUBJECTS)) {
  test(`${name} renders its example for every reader`, async () => {
    for (const locale of [null, "en-US", "fr-CA", "not a locale", "en-u"]) {
      const rendered = await draw(template(name), template(name).previewProps, locale);
      assert.ok(rendered.ok, JSON.stringify(rendered));
      assert.equal(rendered.subject, subject);
      for (const part of [rendered.html, rendered.text]) {
        assert.doesNotMatch(part, /undefined|\[object|NaN|Invalid Date|\bnull\b/);
      }
      assert.match(rendered.html, /<html[^>]* lang="en"/);
      assert.match(rendered.html, /prefers-color-scheme: dark/);
      assert.ok(rendered.html.length < 100_000, "Gmail cuts a message off at 102 KB");
    }
  });

  test(`${name} names every parameter that is missing`, async () => {
    const message = messageOf(await draw(template(name), {}), "parameters_invalid");
    assert.ok(template(name).required.length > 0);
    for (const parameter of template(name).required) assert.ok(message.includes(`${parameter}: `), message);
  });

  test(`${name} renders with no more than what it asks for, the rest null as SQL gives it`, async () => {
    const example = template(name).previewProps ?? {};
    const least = template(name).required.map((parameter) => [parameter, example[parameter]]);
    assert.equal((await draw(template(name), Object.fromEntries(least))).ok, true);
    // Parameters with a default may be left out but not be null.
    const optional = [
      "items",
      "address",
      "url",
      "ordered_at",
      "shipping",
      "total",
      "requested_from",
      "history",
    ];
    const nulls = optional.filter((parameter) => !template(name).required.includes(parameter));
    const rendered = await draw(
      template(name),
      Object.fromEntries([...nulls.map((key) => [key, null]), ...least]),
    );
    assert.ok(rendered.ok, JSON.stringify(rendered));
    assert.doesNotMatch(rendered.html + rendered.text, /undefined|\[object|NaN|>null</);
  });
}

test("links are https or, for writing to somebody, mailto", async () => {
  const cases: [name: string, parameter: string][] = [
    ["order-confirmed", "url"],
    ["password-reset", "url"],
    ["report-alert", "url"],
    ["support-reply", "url"],
    ["login-code", "report_url"],
  ];
  const bad = [
    "javascript:alert(1)",
    "http://shop.example/",
    "data:text/html,x",
    "file:///etc/passwd",
    "/orders/1",
    "",
  ];
  for (const [name, parameter] of cases) {
    for (const url of bad) {
      const rendered = await draw(template(name), { ...template(name).previewProps, [parameter]: url });
      assert.match(messageOf(rendered, "parameters_invalid"), new RegExp(`${parameter}: must be an`));
    }
  }
  const example = template("login-code").previewProps;
  assert.equal(
    (await draw(template("login-code"), { ...example, report_url: "mailto:a@shop.example" })).ok,
    true,
  );
});

test("order-confirmed shows items, sums, address and link, in the order's currency", async () => {
  const rendered = await draw(template("order-confirmed"), template("order-confirmed").previewProps);
  assert.ok(rendered.ok);
  for (const part of ["Notebook A5, dotted, 192 pages", "£43.50", "−£10.00", "£95.80", "Bristol BS6 6DN"]) {
    assert.ok(rendered.text.includes(part), part);
  }
  assert.match(rendered.html, /href="https:\/\/shop\.example\/orders\/HR-20418"/);
});

test("order-confirmed is written in the reader's language and direction, with the country's own dates and money", async () => {
  const order = template("order-confirmed");
  assert.deepEqual(order.locales, ["en", "de", "ar"]);
  const cases: [locale: string, lang: string, dir: string, subject: string, date: string, total: string][] = [
    ["en-US", "en", "ltr", "Order HR-20418 is confirmed", "Saturday, October 3, 2026", "£95.80"],
    ["de-CH", "de", "ltr", "Ihre Bestellung HR-20418 ist bestätigt", "Samstag, 3. Oktober 2026", "£ 95.80"],
    ["de", "de", "ltr", "Ihre Bestellung HR-20418 ist bestätigt", "Samstag, 3. Oktober 2026", "95,80 £"],
    ["ar-EG", "ar", "rtl", "تم تأكيد طلبك HR-20418", "السبت، ٣ أكتوبر ٢٠٢٦", "٩٥٫٨٠"],
    ["fr", "en", "ltr", "Order HR-20418 is confirmed", "Saturday, 3 October 2026", "£95.80"],
  ];
  for (const [locale, lang, dir, subject, date, total] of cases) {
    const rendered = await draw(order, order.previewProps, locale);
    assert.ok(rendered.ok, JSON.stringify(rendered));
    assert.equal(rendered.subject, subject);
    assert.match(rendered.html, new RegExp(`<html(?=[^>]* dir="${dir}")[^>]* lang="${lang}"`));
    const text = rendered.text.replaceAll("\u00a0", " ");
    for (const part of [date, total]) assert.ok(text.includes(part), `${locale}: ${part} in ${text}`);
  }
});

test("text from a customer stays text", async () => {
  const name = '<script>alert("x")</script>';
  const example = template("order-confirmed").previewProps;
  const rendered = await draw(template("order-confirmed"), { ...example, customer_name: name });
  assert.ok(rendered.ok && !rendered.html.includes("<script"));
});

test("codes and reset links are secrets, and not in the subject", async () => {
  assert.deepEqual(template("login-code").secrets, ["code"]);
  assert.deepEqual(template("password-reset").secrets, ["url"]);
  const rendered = await draw(template("login-code"), template("login-code").previewProps);
  assert.ok(rendered.ok && rendered.text.includes("482913") && !rendered.subject.includes("482913"));
});

test("templates import React Email, React, zod, a sanitiser and each other, nothing else", async () => {
  for (const file of await readdir(EMAILS, { recursive: true })) {
    if (!/\.tsx?$/.test(file)) continue;
    for (const [, from] of (await readFile(join(EMAILS, file), "utf8")).matchAll(/from "([^"]+)"/g)) {
      assert.match(
        from!,
        /^(@react-email\/components|react|zod|sanitize-html|\.\/(_components\/)?[-\w]+\.tsx?)$/,
        file,
      );
    }
  }
});
