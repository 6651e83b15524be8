import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ERROR_CODES } from "../src/errors.ts";

/** Rows of the table below README's heading "Error codes", by the code in the first column. */
function documented(): Map<string, string> {
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const section = /^#+ Error codes$(.*?)(?=^#+ |$(?![\s\S]))/ms.exec(readme)?.[1] ?? "";
  return new Map(
    [...section.matchAll(/^\| `([a-z0-9_]+)` \|(.*)\|$/gm)].map((row) => [row[1] ?? "", row[2] ?? ""]),
  );
}

test("README lists every error code, and no other", () => {
  assert.deepEqual([...documented().keys()].sort(), Object.keys(ERROR_CODES).sort());
});

test("README says of each code what the registry says", () => {
  const rows = documented();
  for (const [code, { sentence, hint }] of Object.entries(ERROR_CODES)) {
    const row = rows.get(code) ?? "";
    assert.ok(row.includes(sentence), `${code}: README lacks "${sentence}"`);
    assert.ok(row.includes(hint), `${code}: README lacks "${hint}"`);
  }
});

test("each code has a sentence and a hint that end as sentences do", () => {
  for (const [code, { sentence, hint }] of Object.entries(ERROR_CODES)) {
    assert.match(sentence, /^[A-Z].*\.$/, code);
    assert.match(hint, /\S\.$/, code);
  }
});
